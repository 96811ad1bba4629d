//! What is refused, in one line that names the place.

use super::super::testing::{file, refusal};
use super::tests::bare;

#[test]
fn bad_arguments_are_one_clear_line() {
    for (args, wanted) in [
        (
            &["layout", "--partitioner", "Murmur2", "--partitions", "3"][..],
            "write it as murmur2",
        ),
        (
            &[
                "layout",
                "--partitioner",
                "murmur2_random",
                "--partitions",
                "3",
            ],
            "what librdkafka calls it",
        ),
        (
            &[
                "layout",
                "--partitioner",
                "murmur2",
                "--encoding",
                "UTF-8",
                "--partitions",
                "3",
            ],
            "write it as utf8",
        ),
        (
            &["layout", "--client", "jvm", "--partitions", "3"],
            "client \"jvm\" is not known; use java",
        ),
        (
            &[
                "layout",
                "--client",
                "java",
                "--setting",
                "x",
                "--partitions",
                "3",
            ],
            "java has no partitioner \"x\"",
        ),
        (
            &["layout", "--client", "kafkajs", "--partitions", "3"],
            "declare its version",
        ),
        (
            &["layout", "--partitioner", "murmur2"],
            "give --partitions N",
        ),
        (
            &["layout", "--partitioner", "murmur2", "--partitions", "3"],
            "no keys: give --keys-file",
        ),
        (&["layout"], "nothing to look at"),
        (&["layout", "-f", "-", "--keys-file", "-"], "read once"),
        (&["layout", "-f", "/nowhere.yaml"], "No such file"),
        (
            &["layout", "x", "--partitioner", "murmur2"],
            "cannot be used with",
        ),
    ] {
        let said = refusal(args, "");
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
    for count in ["0", "-1", "2147483648", "x", ""] {
        let said = refusal(
            &["layout", "--partitioner", "murmur2", "--partitions", count],
            "",
        );
        assert!(
            said.contains("wanted a partition count, 1 to 2147483647"),
            "{said}"
        );
    }
    let many = [
        "layout",
        "--partitioner",
        "murmur2",
        "--partitions",
        "2147483647",
        "--key",
        "a",
    ];
    let said = refusal(&many, "");
    assert!(said.contains("too many to count keys on"), "{said}");
}

#[test]
fn a_bad_key_leaves_nothing_on_standard_output() {
    let good = "1\n".repeat(20_000);
    for (bytes, place) in [
        (
            format!("{good}abc\n2\n").into_bytes(),
            "keys.txt line 20001: key \"abc\" has no int32 encoding",
        ),
        (
            [good.as_bytes(), b"\xff\n"].concat(),
            "keys.txt line 20001: not UTF-8 at byte 1",
        ),
        (
            [good.as_bytes(), &vec![b'1'; 3 << 20]].concat(),
            "keys.txt line 20001: longer than 1 MiB",
        ),
    ] {
        let (_folder, path) = file("keys.txt", &bytes);
        let path = path.to_str().unwrap();
        for output in ["table", "json", "csv", "yaml"] {
            let mut args = bare(&["--encoding", "int32", "-o", output]);
            args.extend(["--keys-file", path]);
            let said = refusal(&args, "");
            assert!(said.contains(place), "{said}");
        }
    }
    let said = refusal(&bare(&["--encoding", "int32", "--key", "abc"]), "");
    assert!(said.starts_with("--key: key \"abc\""), "{said}");
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), &folder.path().join("none")] {
        let path = path.to_str().unwrap();
        let mut args = bare(&["--summary"]);
        args.extend(["--keys-file", path]);
        let said = refusal(&args, "");
        assert!(said.starts_with(path), "{said}");
    }
}
