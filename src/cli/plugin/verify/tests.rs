use super::super::testing::{GROUP, refusal};
use super::*;

#[test]
fn since_is_a_duration_or_a_time() {
    let hour = Timestamp::now().as_second() - since("1h").unwrap().as_second();
    assert!((3600..3700).contains(&hour), "{hour}");
    let time = since("2026-11-30T08:00:00Z").unwrap();
    assert_eq!(time.as_millisecond(), 1_796_025_600_000);
    for wrong in ["", "yesterday", "12:00", "2026-11-30"] {
        assert!(
            since(wrong).unwrap_err().contains("neither a duration"),
            "{wrong}"
        );
    }
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_read() {
    let bare = ["verify", "--bootstrap", "127.0.0.1:1"];
    let topic = ["verify", "--bootstrap", "127.0.0.1:1", "--topic", "a"];
    for (args, wanted) in [
        (&["verify"][..], "nothing to look at"),
        (&bare, "--topic"),
        (&["verify", "--topic", "a"], "--bootstrap"),
        (
            &[&topic[..], &["--encoding", "int64"]].concat(),
            "give --partitioner or --client",
        ),
        (
            &[&topic[..], &["--client", "kafka-go"]].concat(),
            "does not place records by key",
        ),
        (&[&topic[..], &["--records", "0"]].concat(), "0 is not in"),
        (
            &[&topic[..], &["--full", "--since", "1h"]].concat(),
            "cannot be used with",
        ),
        (
            &["verify", "-f", "-", "--bootstrap", "x:1"],
            "cannot be used with",
        ),
        (
            &["verify", "-f", "-", "--client", "java"],
            "cannot be used with",
        ),
    ] {
        let said = refusal(args, GROUP);
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
    let elsewhere = GROUP.replace(
        "inline: {bootstrapServers: ['kafka:9092']}",
        "connectionRef: {name: prod}",
    );
    let said = refusal(&["verify", "-f", "-"], &elsewhere);
    assert!(said.contains("--command-config"), "{said}");
}

#[test]
fn a_kafka_that_does_not_answer_is_named() {
    let args = [
        "verify",
        "--bootstrap",
        "127.0.0.1:1",
        "--topic",
        "a",
        "--timeout",
        "2s",
    ];
    let said = refusal(&args, "");
    assert!(said.starts_with("127.0.0.1:1: "), "{said}");
}
