//! A reading as a future.

use std::io::Read;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use copartition::kafka::{ConnectionSettings, Extent, SampledRecord, Sink, sample};

use super::trouble::write_much;
use super::{DEADLINE, Writer, request, settings};
use crate::env::{Env, unique, wait_for};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A server that accepts and never answers shows when a consumer has let go of its sockets.
pub(crate) fn a_dropped_reading_lets_go_of_its_thread_and_sockets(env: &Env) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = server.local_addr().expect("an address").to_string();
    let silent = ConnectionSettings::new([address]).with_request_timeout(Duration::from_secs(1));
    let topic = unique("dropped");
    env.kafka.create_topic(&topic, 1);
    write_much(&env.kafka, &topic);
    let runtime = runtime();
    let asked = request(&[&topic], Extent::Everything);
    let accepted = std::thread::spawn(move || server.accept().expect("a connection").0);
    // Dropped before any answer, and in the middle of the records.
    for settings in [silent, settings(&env.kafka)] {
        let alive = Arc::new(());
        let (first, seen) = mpsc::channel();
        let (release, dropped) = mpsc::channel::<()>();
        let held = Arc::clone(&alive);
        let sink = move |record: &SampledRecord<'_>| {
            let _ = (&held, first.send(record.offset));
            // Until the other end is dropped.
            let _ = dropped.recv();
            ControlFlow::Continue(())
        };
        let on_kafka = settings.bootstrap_servers[0] == env.kafka.bootstrap();
        runtime.block_on(async {
            let reading = sample(&settings, asked.clone(), Arc::default(), sink);
            let begun = async {
                while on_kafka && seen.try_recv().is_err() {
                    tokio::task::yield_now().await;
                }
                while !on_kafka && !accepted.is_finished() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                answer = reading => panic!("it ended by itself: {:?}", answer.map(|read| read.0)),
                () = begun => {}
            }
        });
        drop(release);
        // The sink goes with the thread, after the consumer.
        wait_for(
            "the reading's thread to end",
            DEADLINE,
            || match Arc::strong_count(&alive) {
                1 => Ok(()),
                count => Err(format!("{count} holders")),
            },
        );
        assert_eq!(seen.iter().count(), 0, "it read on");
    }
    let mut socket = accepted.join().expect("a socket");
    socket.set_read_timeout(Some(DEADLINE)).expect("a timeout");
    let mut rest = Vec::new();
    socket
        .read_to_end(&mut rest)
        .expect("the end of the stream");
}

struct Count(u64);

impl Sink for Count {
    fn take(&mut self, _: &SampledRecord<'_>) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

pub(crate) fn a_reading_gives_its_sink_back(env: &Env) {
    let topic = unique("async");
    env.kafka.create_topic(&topic, 1);
    Writer::new(&env.kafka, &[]).write((&topic, 0), 10);
    let asked = request(&[&topic], Extent::Everything);
    let answer = runtime().block_on(sample(
        &settings(&env.kafka),
        asked,
        Arc::default(),
        Count(0),
    ));
    let (read, count) = answer.expect("an answer");
    assert!(read.is_complete());
    assert_eq!(count.0, 10);
}
