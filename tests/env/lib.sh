# Sourced by the scripts beside it: what is used, in which version, and where the built parts are cached.
# shellcheck shell=bash disable=SC2034 # what is set here is used by the scripts that source it

env_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A bare environment (cron, some CI) has no HOME; Go and Maven need one as much as the cache does.
if [ -z "${HOME:-}" ]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
  export HOME
fi
cache=${COPARTITION_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/copartition-operator}

# The versions stand once, in go.mod and in pom.xml; COPARTITION_KAFKA_VERSION takes another Kafka.
# The hash keeps a changed build from running an old binary.
kubernetes_version=$(sed -n 's/^\(require \|\t\)k8s.io\/kubernetes v\([0-9.]*\).*/\2/p' "$env_dir/controlplane/go.mod")
kafka_version=${COPARTITION_KAFKA_VERSION:-$(sed -n 's/.*<kafka.version>\(.*\)<\/kafka.version>.*/\1/p' "$env_dir/kafka/pom.xml")}
content_hash() { cat "$@" | sha256sum | cut -c1-12; }
controlplane_dir=$cache/controlplane-$kubernetes_version-$(content_hash "$env_dir"/controlplane/{main.go,go.mod,go.sum})
kafka_dir=$cache/kafka-$kafka_version-$(content_hash "$env_dir/kafka/pom.xml")
# What looks at the chart: Helm, promtool, and the judge of health scripts and statuses.
helm_version=$(sed -n 's/^\thelm.sh\/helm\/v3 v\([0-9.]*\).*/\1/p' "$env_dir/tools/go.mod")
tools_dir=$cache/tools-$helm_version-$(content_hash "$env_dir"/tools/{main.go,go.mod,go.sum})
# The resource definitions of Flux and the Prometheus operator, which the API server checks documents and the chart against.
definitions_dir=$cache/definitions-$(content_hash "$env_dir"/definitions/go.{mod,sum})

# The client libraries of `make conformance`, some of which `make test` uses too, with a folder for each language.
clients=$(cd "$env_dir/../clients" && pwd)
java_clients=$cache/clients-java-$(content_hash "$env_dir/kafka/pom.xml" "$clients"/java/*)
node_clients=$cache/clients-node-$(content_hash "$clients"/node/*)
go_clients=$cache/clients-go-$(content_hash "$clients"/go/*)
rust_clients=$cache/clients-rust-$(content_hash "$clients"/rust/{Cargo.toml,Cargo.lock,src/main.rs})
python_clients=$cache/clients-python-$(content_hash "$clients/python/requirements.txt")

# The parts of the control plane are one binary that goes by the name it is called by.
controlplane=$controlplane_dir/bin
kafka_lib=$kafka_dir/lib

# Short-lived JVMs on few cores spend most of their time in the compiler and the collector: the simple ones start fastest.
# Their own log goes to stderr, where only warnings are of interest.
kafka_tool_opts=(-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn)

require_parts() {
  if [ ! -x "$controlplane/kube-apiserver" ] || [ ! -d "$kafka_lib" ]; then
    echo "the servers that the tests use are not there yet: run 'make setup' first" >&2
    exit 1
  fi
}
