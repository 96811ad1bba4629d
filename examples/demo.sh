#!/usr/bin/env bash
# Shows the operator at work: topics created alike, the layout of their keys, drift caught, a growth refused.
#
#   make demo                 on a Kafka and a Kubernetes API server of its own, which are gone afterwards
#   KEEP=1 make demo          the same, and leaves them up
#   DEMO_EXISTING=1 KUBECONFIG=... KAFKA_BOOTSTRAP=host:port make demo
#                             on yours (Kafka without authentication): refuses to start where anything of the same name
#                             exists, removes the Kubernetes objects that it made, and deletes no topic
set -Eeuo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=../tests/env/lib.sh
. "$root/tests/env/lib.sh"

namespace=trading
topics=(market-updates notifications orders payments)
tickers=(BBCA BBRI BMRI BBNI ANTM ASII GOTO ICBP UNVR TLKM)
keep=${KEEP:-}
existing=${DEMO_EXISTING:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/copartition-demo.XXXXXX")
pids=()
operator_pid=
# What fails may have its output redirected; what is said at the end goes to the terminal all the same.
exec {terminal}>&1
made=() # Kubernetes objects to remove from a cluster that is not ours, in this order

step() { printf '\n[%(%T)T] %s\n' -1 "$*"; }
fail() {
  printf '\ndemo: %s\n' "$*" >&2
  exit 1
}

failed_command=
trap 'failed_command="line $LINENO: $BASH_COMMAND"' ERR

clean_up() {
  local status=$?
  trap - EXIT
  trap '' INT TERM
  exec 1>&"$terminal" {terminal}>&-
  if [ -n "$failed_command" ] && [ "$status" = 1 ]; then echo "demo: this failed: $failed_command" >&2; fi
  # A failure with KEEP=1 is kept as well: that is when one wants to look.
  if [ -n "$keep" ] && [ ${#pids[@]} -gt 0 ]; then
    how_to_use
    exit "$status"
  fi
  if [ ${#pids[@]} -gt 0 ]; then step "Stopping what was started"; fi
  # The operator first, so that it does not write any more while its objects go.
  if [ -n "$operator_pid" ]; then
    kill "$operator_pid" 2> /dev/null || true
    for ((i = 0; i < 100; i++)); do
      kill -0 "$operator_pid" 2> /dev/null || break
      sleep 0.1
    done
  fi
  if [ -n "$existing" ] && [ ${#made[@]} -gt 0 ]; then remove_objects; fi
  if [ ${#pids[@]} -gt 0 ]; then
    kill -KILL "${pids[@]}" 2> /dev/null || true
    wait "${pids[@]}" 2> /dev/null || true
  fi
  if [ "$status" != 0 ] && [ -f "$work/operator.log" ]; then
    echo "the operator's log ends:" >&2
    tail -n 20 "$work/operator.log" >&2
  fi
  rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts a server as a child whose pid is the server's: start NAME COMMAND...
start() {
  # In a session of its own, so that Ctrl-C reaches this script only, which then stops the servers in order.
  local name=$1 guard=(setsid)
  shift
  # Unless they are to be kept, they end with this script even if it is killed outright.
  if [ -z "$keep" ]; then guard+=(setpriv --pdeathsig KILL --); fi
  "${guard[@]}" "$@" > "$work/$name.log" 2>&1 < /dev/null {terminal}>&- &
  pids+=($!)
}

# Repeats a command until it succeeds: await WHAT SECONDS COMMAND...
await() {
  local what=$1 limit=$2 began=$SECONDS said=$SECONDS pid
  shift 2
  until "$@" > "$work/await.log" 2>&1; do
    for pid in "${pids[@]}"; do
      kill -0 "$pid" 2> /dev/null || {
        tail -n 5 "$work"/*.log >&2
        fail "a server has ended while waiting for $what"
      }
    done
    if ((SECONDS - began >= limit)); then
      cat "$work/await.log" >&2
      fail "waited $limit s for $what"
    fi
    if ((SECONDS - said >= 5)); then
      said=$SECONDS
      echo "  still waiting for $what ($((SECONDS - began)) s)"
    fi
    sleep 0.5
  done
}

# Below the range that outgoing connections use, so nothing takes it between here and the server's start.
free_port() {
  local port
  while true; do
    port=$(shuf -i 15000-32000 -n 1)
    if ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
      echo "$port"
      return
    fi
  done
}

kafka_tool() { "$root/tests/env/kafka-tool" "org.apache.kafka.tools.$1" --bootstrap-server "$KAFKA_BOOTSTRAP" "${@:2}"; }
k() { "$kubectl" -n "$namespace" "$@"; }
manifest() { sed "s|\${KAFKA_BOOTSTRAP}|${KAFKA_BOOTSTRAP//,/\", \"}|" "$root/examples/$1.yaml"; }
# condition GROUP TYPE FIELD
condition() { k get cptg "$1" -o jsonpath="{.status.conditions[?(@.type==\"$2\")].$3}"; }
has_reason() { [ "$(condition "$1" PartitionsAligned reason)" = "$2" ]; }
holds_records() { [ "$(k get cptg "$1" -o jsonpath='{.status.holdsRecords}')" = true ]; }
# In a shell of its own, which a refused connection ends.
http_ok() (
  exec 3<> "/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
  answer=$(cat <&3)
  echo "$answer"
  [[ $answer == HTTP/*' 200 '* ]]
)

start_servers() {
  step "Starting Kafka $kafka_version and Kubernetes $kubernetes_version (10 to 20 seconds)"
  local kafka controller api etcd peer
  kafka=$(free_port) controller=$(free_port) api=$(free_port) etcd=$(free_port) peer=$(free_port)
  KAFKA_BOOTSTRAP=127.0.0.1:$kafka
  export KUBECONFIG=$work/apiserver/kubeconfig KUBECACHEDIR=$work/kubectl-cache
  kubectl=$controlplane/kubectl
  # No two demos share data, so the cluster's id (22 characters of base64) may be the same in each.
  start kafka "$root/tests/env/kafka-node" "$work/kafka" 1 "$kafka,$controller" copartitionDemo000001A
  start etcd "$root/tests/env/etcd" "$work/etcd" "$etcd" "$peer"
  start apiserver "$root/tests/env/apiserver" "$work/apiserver" "$api" "$etcd"
  await "the API server" 120 "$kubectl" get --raw /readyz --request-timeout=5s
  start controller-manager "$root/tests/env/controller-manager" "$KUBECONFIG"
  await "Kafka" 120 kafka_listed
  echo "  Kafka at $KAFKA_BOOTSTRAP, Kubernetes at https://127.0.0.1:$api"
}

# Kafka's tool would itself retry for a minute; connecting first keeps the wait short.
kafka_listed() { (exec 3<> "/dev/tcp/${KAFKA_BOOTSTRAP/://}") 2> /dev/null && kafka_tool TopicCommand --list; }

# Nothing of the user's may be overwritten, grown or adopted.
check_existing() {
  step "Checking that nothing of the demo's names exists yet"
  if [ -z "${KUBECONFIG:-}" ] || [ -z "${KAFKA_BOOTSTRAP:-}" ]; then
    fail "DEMO_EXISTING=1 needs KUBECONFIG and KAFKA_BOOTSTRAP: the cluster and the brokers to use"
  fi
  kubectl=$(command -v kubectl) || fail "DEMO_EXISTING=1 needs kubectl on PATH"
  local crds found
  crds=$("$kubectl" get crds -o name) || fail "the Kubernetes cluster in KUBECONFIG does not answer"
  if grep -q '\.copartition\.dev$' <<< "$crds"; then
    fail "the operator's resource definitions are installed there already, so it may be at work there: the demo would be a second one"
  fi
  if "$kubectl" get namespace "$namespace" > /dev/null 2>&1; then
    fail "there is a namespace '$namespace' already, and the demo does not write into a namespace that it did not make"
  fi
  found=$(kafka_tool TopicCommand --list) || fail "Kafka at $KAFKA_BOOTSTRAP does not answer"
  for topic in "${topics[@]}"; do
    if grep -qx -- "$topic" <<< "$found"; then fail "there is a topic '$topic' already, and the demo would change it"; fi
  done
}

remove_objects() {
  local object
  for object in "${made[@]}"; do
    echo "  removing $object"
    "$kubectl" delete "$object" --ignore-not-found --timeout=60s > /dev/null || true
  done
  echo "  The topics stay in Kafka, as the operator and its demo delete none: ${topics[*]}"
}

how_to_use() {
  cat <<T

Left running (KEEP=1):
  export KUBECONFIG=$KUBECONFIG
  kubectl    $kubectl
  Kafka      $KAFKA_BOOTSTRAP   (tools: $root/tests/env/kafka-tool org.apache.kafka.tools.TopicCommand --bootstrap-server $KAFKA_BOOTSTRAP --list)
  logs       $work
  to stop    kill -KILL ${pids[*]}; rm -rf $work
T
  if [ -n "$existing" ]; then
    printf '  to remove  '
    printf '%s delete %s; ' "$kubectl" "${made[@]}" | sed 's/; $/\n/'
  fi
}

# Writes one keyed record per argument to a topic.
produce() {
  local topic=$1
  shift
  printf '%s:{"from":"demo"}\n' "$@" |
    kafka_tool ConsoleProducer --topic "$topic" --reader-property parse.key=true --reader-property key.separator=:
}

# Prints `KEY PARTITION` for a number of records of a topic.
consume() {
  kafka_tool consumer.ConsoleConsumer --topic "$1" --from-beginning --max-messages "$2" --timeout-ms 30000 \
    --formatter-property print.key=true --formatter-property print.partition=true --formatter-property print.value=false 2> "$work/consumer.log" |
    sed -n 's/^Partition:\([0-9]*\)\t\(.*\)$/\2 \1/p' | sort || {
    cat "$work/consumer.log" >&2
    return 1
  }
}

if [ -n "$existing" ]; then
  "$root/tests/env/setup" kafka
  check_existing
else
  "$root/tests/env/setup" servers
  start_servers
fi

step "Building the operator and the kubectl plugin"
(cd "$root" && cargo build --locked --bins)
operator=$(cd "$root" && cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/copartition-operator
plugin=${operator%/*}/kubectl-copartition

step "Installing the resource definitions and starting the operator"
for file in "$root"/crds/*.yaml; do made+=("crd/$(sed -n 's/^  name: //p' "$file" | head -n 1)"); done
"$kubectl" apply --server-side -f "$root/crds"
"$kubectl" wait --for=condition=Established --timeout=60s -f "$root/crds" > /dev/null
made=("namespace/$namespace" "${made[@]}")
"$kubectl" create namespace "$namespace"
listen=$(free_port)
start operator "$operator" run --watch-namespace "$namespace" --listen "127.0.0.1:$listen" --poll-interval 1s --inline-connections '127.0.0.1:*'
operator_pid=${pids[-1]}
await "the operator to be ready" 60 http_ok "$listen" /readyz

step "Applying examples/market-data.yaml and waiting for Ready"
manifest market-data | k apply -f -
k wait --for=condition=Ready --timeout=120s cptg/market-data
k get cptg
echo
kafka_tool TopicCommand --describe --topic 'market-updates|notifications' | grep PartitionCount

step "Writing one record per ticker to both topics with Kafka's own producer, and comparing where they lie"
k get cptg market-data -o jsonpath='{range .status.layout.keys[*]}{.key} {.partition}{"\n"}{end}' | sort > "$work/predicted"
for topic in market-updates notifications; do
  produce "$topic" "${tickers[@]}"
  consume "$topic" ${#tickers[@]} > "$work/$topic"
  echo "  $topic: read back $(wc -l < "$work/$topic") records"
done
join "$work/predicted" "$work/market-updates" | join - "$work/notifications" |
  awk 'BEGIN { printf "  %-8s %-10s %-15s %s\n", "key", "predicted", "market-updates", "notifications" }
       { printf "  %-8s %-10s %-15s %s\n", $1, $2, $3, $4; if ($2 != $3 || $3 != $4) wrong = 1 }
       END { if (NR == 0 || wrong) exit 1 }' || fail "the records do not lie where the status says"

step "Asking the plugin what librdkafka's default partitioner would do to 'notifications' (from the manifest alone)"
manifest market-data | sed 's/, partitioner: murmur2_random//' > "$work/what-if.yaml"
# 2 says that the topics place keys differently.
if "$plugin" layout -f "$work/what-if.yaml"; then fail "the plugin takes both for the same"; else [ $? = 2 ]; fi
echo
"$plugin" explain BBCA --partitions 6 | sed -n '1,/^crc32_spread_empty/p'

step "Growing 'notifications' behind the operator's back, with Kafka's own tool"
kafka_tool TopicCommand --alter --topic notifications --partitions 8
await "the operator to see it" 60 has_reason market-data PartitionDrift
k get cptg market-data
echo
echo "  PartitionsAligned=$(condition market-data PartitionsAligned status), $(condition market-data PartitionsAligned reason):"
condition market-data PartitionsAligned message | fold -s -w 110 | sed 's/^/    /'
echo

step "Applying examples/orders.yaml, waiting for Ready, and writing records"
manifest orders | k apply -f -
k wait --for=condition=Ready --timeout=120s cptg/orders
for topic in orders payments; do produce "$topic" order-1001 order-1002 order-1003; done
await "the operator to see the records" 60 holds_records orders

step "Asking for 8 partitions without consent"
if manifest orders | sed 's/partitions: 6/partitions: 8/' | k apply -f - > "$work/refusal" 2>&1; then
  echo "  the API server accepts it; what the operator says:"
  await "the operator to refuse it" 60 has_reason orders GrowthBlocked
  condition orders PartitionsAligned message > "$work/refusal"
else
  echo "  the API server refuses it:"
fi
fold -s -w 110 "$work/refusal" | sed 's/^/    /'
echo
grep -q acceptKeyMovement "$work/refusal" || fail "the refusal does not say what would allow it"
kafka_tool TopicCommand --describe --topic 'orders|payments' | grep PartitionCount | tee "$work/counts"
[ "$(grep -c 'PartitionCount: 6' "$work/counts")" = 2 ] || fail "a topic has grown without consent"

step "Done: the two groups as they are now"
k get cptg
