//! What listens at an address and is no broker, or no good one.

use std::future::Future;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Answers the first request with these bytes, and keeps the connection open, or not.
async fn listener(answer: Vec<u8>, keep: bool) -> ConnectionSettings {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            read_one(&mut stream).await;
            let _ = stream.write_all(&answer).await;
            if keep {
                held.push(stream);
            }
        }
    });
    ConnectionSettings::new([address.to_string()]).with_request_timeout(Duration::from_secs(1))
}

async fn read_one(stream: &mut TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.unwrap();
    let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap()];
    stream.read_exact(&mut body).await.unwrap();
}

async fn asked(settings: ConnectionSettings) -> Error {
    let wire = Wire::new(Arc::new(settings), None, Arc::default());
    let mut session = wire.session().await.unwrap();
    let answer = session.ask(&Metadata).await;
    Error::from(answer.expect_err("nobody answers as a broker"))
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// An answer with its length in front.
fn framed(body: &[u8]) -> Vec<u8> {
    let length = i32::try_from(body.len()).unwrap();
    [&length.to_be_bytes()[..], body].concat()
}

#[test]
fn a_length_that_promises_too_much_is_not_believed() {
    for length in [i32::MAX, -1, (16 << 20) + 1] {
        let error = run(async { asked(listener(length.to_be_bytes().to_vec(), true).await).await });
        let said = error.to_string();
        assert_eq!(error.kind(), "Unreachable", "{said}");
        assert!(said.contains("does the listener want TLS"), "{said}");
    }
}

#[test]
fn an_answer_to_something_else_or_to_nothing_is_none() {
    // Another number than the request's, no body, no versions, an array that is longer than what follows.
    for body in [
        &[0, 0, 0, 9, 0, 0][..],
        &[],
        &[0, 0, 0, 1, 0],
        &[0, 0, 0, 1, 0, 0, 0xff, 0x7f],
    ] {
        let error = run(async { asked(listener(framed(body), true).await).await });
        assert!(
            error.to_string().contains("not as a Kafka broker"),
            "{error}"
        );
    }
}

#[test]
fn a_broker_that_hangs_up_or_is_silent_is_named() {
    let half = [&100_i32.to_be_bytes()[..], &[0; 10]].concat();
    for answer in [Vec::new(), half.clone()] {
        let error = run(async { asked(listener(answer, false).await).await });
        assert!(
            error.to_string().contains("closed the connection"),
            "{error}"
        );
    }
    for answer in [Vec::new(), half] {
        let error = run(async { asked(listener(answer, true).await).await });
        assert_eq!(error.kind(), "Timeout", "{error}");
    }
}

#[test]
fn a_broker_that_lacks_an_api_says_so() {
    // Of version 3 of ApiVersions nothing is known to brokers before Kafka 2.4: error 35.
    let old = framed(&[0, 0, 0, 1, 0, 35, 0, 0, 0, 0]);
    let error = run(async { asked(listener(old, true).await).await });
    assert!(error.to_string().contains("UNSUPPORTED_VERSION"), "{error}");
    // One that speaks nothing else.
    let none = framed(&[0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]);
    let error = run(async { asked(listener(none, true).await).await });
    assert!(
        error.to_string().contains("does not have Metadata"),
        "{error}"
    );
}
