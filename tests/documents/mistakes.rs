//! Documents with a mistake in each: that it is found, and named with its place. No tests here.

use std::mem;

use super::blocks::{Kind, blocks, commands, difference, ends_with};
use super::mentions::{self, Helps};
use super::stage::Stage;
use super::{Fault, check};

const DOCUMENT: &str = "page.md";

/// A document of one block, which begins in line 4, and a part of what is to be said of it.
const WRONG: &[(&str, &str, usize, &str)] = &[
    (
        "sh",
        "true\nkubectl get cptg --no-such-flag",
        5,
        "no-such-flag",
    ),
    ("sh", "kubectl copartition layout --clint java", 4, "clint"),
    (
        "sh",
        "true   # ends with 2",
        4,
        "ends with 0 in place of [2]",
    ),
    ("sh", "false | true", 4, "ends with 1 in place of [0]"),
    ("sh", "no-such-program", 4, "no-such-program"),
    ("sh", "echo \"$NOT_SET\"", 4, "NOT_SET"),
    (
        "sh",
        "kubectl create namespace \\\n  trading",
        4,
        "already exists",
    ),
    ("sh", "make no-such-target", 4, "no-such-target"),
    ("sh", "NO_SUCH=1 make demo", 4, "NO_SUCH"),
    ("sh", "docker build --build-arg NO_SUCH=1 .", 4, "NO_SUCH"),
    (
        "sh",
        "helm template x charts/copartition-operator --set replicsa=1",
        4,
        "replicsa",
    ),
    ("console", "$ echo a\nb", 4, "\"b\""),
    (
        "yaml",
        "apiVersion: copartition.dev/v1alpha1\nkind: CoPartitionedTopicGroup\nmetadata: {name: a, namespace: trading}\n\
         spec: {kafka: {connectionRef: {name: prod}}, topics: [{name: a, partitoins: 3}]}",
        4,
        "partitoins",
    ),
    ("yaml", "spec: {partitions: 5}", 4, "cannot remove"),
    ("yaml", "spec: {partitoins: 6}", 4, "partitoins"),
    (
        "yaml",
        "spec: {verification: {intervall: 1h}}",
        4,
        "intervall",
    ),
    (
        "yaml",
        "monitoring: {dashbord: {enabled: true}}",
        4,
        "dashbord",
    ),
    ("yaml", "nobody: knows", 4, "neither a manifest"),
    (
        "yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\n\
         spec: {interval: 10m, prune: true, waits: true, sourceRef: {kind: GitRepository, name: a}}",
        4,
        "waits",
    ),
    (
        "yaml",
        "- name: x\n- run: |\n    true\n    exit 3\n",
        7,
        "ends the shell",
    ),
    ("yaml", "a: [", 4, "YAML"),
    ("js", "const a = ;", 4, "SyntaxError"),
    ("json", "{\"a\":}", 4, "JSON"),
];

/// A sentence, and a part of what is to be said of it.
const WRONG_MENTIONS: &[(&str, &str)] = &[
    ("`make no-such`", "no target no-such"),
    ("`make bench NO_SUCH=1`", "NO_SUCH"),
    ("`kubectl copartition layuot`", "layuot"),
    ("`kubectl copartition verify --ful`", "has no --ful"),
    ("`kubectl -n x get pods --no-such`", "has no --no-such"),
    ("`kubectl apply -f charts/no-such/`", "no-such"),
    ("`helm upgrade --no-such`", "has no --no-such"),
    (
        "`copartition-operator reconcile --dryrun`",
        "has no --dryrun",
    ),
];

const RIGHT_MENTIONS: &str = "`kubectl copartition plan GROUP -n NAMESPACE --to N`, `KEEP=1 make demo`, `kubectl -n a get b -o yaml --context c | x`, \
     `helm install`, `copartition-operator reconcile -f topics/ --dry-run`, `rm --no-such`";

/// What is right, or said to end so.
const RIGHT: &[(&str, &str)] = &[
    (
        "sh",
        "cd crds   # and the next one is there\ntest -f kafkaconnections.yaml || ls\nfalse   # ends with 1",
    ),
    ("console", "$ printf 'a   12s\\nb\\nc\\n'\na 3m20s\n...\nc"),
    ("yaml", "spec: {partitions: 6}"),
    (
        "yaml",
        "metadata: {annotations: {copartition.dev/paused: \"true\"}}",
    ),
    ("yaml", "monitoring: {dashboard: {enabled: true}}"),
];

fn faults(stage: &mut Stage<'_>, kind: &str, text: &str) -> Vec<Fault> {
    let markdown = format!("# A page\n\n```{kind}\n{text}\n```\n");
    let (found, mut faults) = blocks(DOCUMENT, &markdown);
    for block in &found {
        faults.extend(check(stage, block));
    }
    faults
}

/// What of all this is not found, or found and not there.
pub(super) fn unseen(stage: &mut Stage<'_>) -> Vec<String> {
    // These need nothing of what is said for the documents.
    let used = mem::take(&mut stage.used);
    let mut unseen = Vec::new();
    for (kind, text, line, named) in WRONG {
        let found = faults(stage, kind, text);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        let said = said.join("\n");
        if !(said.contains(&format!("{DOCUMENT}:{line}: ")) && said.contains(named)) {
            unseen.push(format!("of the mistake in {text:?} is said: {said}"));
        }
    }
    for (kind, text) in RIGHT {
        for fault in faults(stage, kind, text) {
            unseen.push(format!("of what is right is said: {fault}"));
        }
    }
    stage.used = used;
    let mut helps = Helps::default();
    let mut mentions = |text: &str| -> Vec<String> {
        let faults = mentions::check(stage, &mut helps, DOCUMENT, text);
        faults.iter().map(ToString::to_string).collect()
    };
    for (text, named) in WRONG_MENTIONS {
        let said = mentions(text).join("\n");
        if !said.contains(named) {
            unseen.push(format!("of the mistake in {text:?} is said: {said}"));
        }
    }
    unseen.extend(mentions(RIGHT_MENTIONS));
    unseen
}

pub(super) fn in_blocks_are_named() {
    let markdown = "- of a list:\n\n  ```sh\n  a \\\n    b\n  # c\n\n  d 'e\n  f'\n  ```\n\n```\nx\n```\n\n```toml\ny\n```\n\n    z\n";
    let (found, faults) = blocks(DOCUMENT, markdown);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, found[0].line), (Kind::Sh, 4));
    let lines = commands(&found[0].text, found[0].line, false);
    let seen: Vec<_> = lines
        .iter()
        .map(|it| (it.at, it.command.as_str()))
        .collect();
    assert_eq!(seen, [(4, "a \\\n  b"), (8, "d 'e\nf'")]);
    let named: Vec<&str> = faults.iter().map(|it| it.at.as_str()).collect();
    assert_eq!(
        named,
        ["page.md:13", "page.md:17", "page.md:20"],
        "{faults:?}"
    );

    let lines = commands("$ a\nb\n\n$ cat <<E\nx\nE\nx\n", 1, true);
    let seen: Vec<_> = lines.iter().map(|it| (it.at, it.shown.join("|"))).collect();
    assert_eq!(seen, [(1, "b|".to_owned()), (4, "x".to_owned())]);
    assert_eq!(ends_with("a # b, ends with 2"), Some(2));
    assert_eq!(ends_with("a '# ends with 2' # b"), None);
}

pub(super) fn in_outputs_are_named() {
    let differs = |shown: &[&str], printed: &str| {
        let shown: Vec<String> = shown.iter().map(|it| (*it).to_owned()).collect();
        difference(&shown, printed).is_some()
    };
    for (shown, printed) in [
        (&["a b"][..], "a   b\n"),
        (&["a", "..."], "a\nb\nc\n"),
        (&["...", "c"], "a\nb\nc\n"),
        (&["x 12s"], "x 3m1s"),
        (&[], "anything"),
    ] {
        assert!(!differs(shown, printed), "{shown:?}, {printed:?}");
    }
    for (shown, printed) in [
        (&["a"][..], ""),
        (&["a"], "a\nb\n"),
        (&["a", "c"], "a\nb\nc\n"),
        (&["...", "d"], "a\nb\n"),
        (&["x 12"], "x 13"),
        (&["x 12s"], "x True"),
    ] {
        assert!(differs(shown, printed), "{shown:?}, {printed:?}");
    }
}
