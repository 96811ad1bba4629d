//! The slots that `copartition::layout` gives keys, against a real Redis server in cluster mode.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use copartition::layout::redis_slot;

use crate::env::process::{Process, guarded};
use crate::env::{Env, free_port, script, unique, wait_for};
use crate::group::TICKERS;
use crate::xorshift::Xorshift;

const DEADLINE: Duration = Duration::from_secs(60);

/// The hashed part is what Redis' documentation and tests of hash tags speak of; the slots are what a server said.
const PUBLISHED: [(&str, u16); 20] = [
    ("", 0),
    ("123456789", 12739),
    ("user1000", 3443),
    ("{user1000}.following", 3443),
    ("{user1000}.followers", 3443),
    ("foo{}{bar}", 8363),
    ("{}", 15257),
    ("{}bar", 6479),
    ("foo{}", 5542),
    ("foo{{bar}}zap", 4015),
    ("{bar", 4015),
    ("foo{bar}{zap}", 5061),
    ("foo}{bar}", 5061),
    ("bar", 5061),
    ("foo{bar", 15278),
    ("foo}bar{", 11073),
    ("}{", 12793),
    ("{{}}", 4092),
    ("日本語", 12788),
    ("{日本語}x", 12788),
];

pub(crate) fn published_slots_are_those_of_the_server_and_ours(env: &Env) {
    let mut server = Server::start(env);
    let keys = PUBLISHED.map(|(key, _)| key.as_bytes().to_vec());
    let slots = PUBLISHED.map(|(_, slot)| slot);
    assert_eq!(server.slots(&keys), slots);
    assert_eq!(keys.map(|key| redis_slot(&key)), slots);
}

/// Over an alphabet that makes most keys a case of the rules of tags.
pub(crate) fn slots_of_random_keys_are_those_of_the_server(env: &Env) {
    const KEYS: usize = 100_000;
    let mut server = Server::start(env);
    let mut random = Xorshift::new();
    let keys: Vec<Vec<u8>> = (0..KEYS)
        .map(|_| {
            let length = random.below(13);
            (0..length).map(|_| random.one_of(b"{}ab\0\xff")).collect()
        })
        .collect();
    let differing: Vec<String> = keys
        .iter()
        .zip(server.slots(&keys))
        .filter(|(key, slot)| redis_slot(key) != *slot)
        .map(|(key, slot)| format!("{key:02x?}: {slot}, ours is {}", redis_slot(key)))
        .collect();
    assert!(
        differing.is_empty(),
        "{} of {KEYS} slots differ:\n{}",
        differing.len(),
        // Enough to see what they have in common.
        differing[..differing.len().min(20)].join("\n")
    );
}

/// Two kinds of keys of one ticker share a slot, and different tickers do not all share one.
pub(crate) fn tagged_keys_of_a_ticker_share_a_slot(env: &Env) {
    let mut server = Server::start(env);
    let named = |kind: &str| TICKERS.map(|ticker| format!("{kind}:{{{ticker}}}").into_bytes());
    let (market, notif) = (named("market"), named("notif"));
    let slots = server.slots(&market);
    assert_eq!(server.slots(&notif), slots);
    assert_eq!(market.map(|key| redis_slot(&key)).to_vec(), slots);
    assert_eq!(notif.map(|key| redis_slot(&key)).to_vec(), slots);
    let whole = server.slots(&TICKERS.map(|ticker| format!("notif:{ticker}").into_bytes()));
    assert!(
        slots
            .iter()
            .zip(&whole)
            .all(|(tagged, whole)| tagged != whole)
    );
}

/// A server that is ended when dropped, and a connection to it.
struct Server {
    requests: TcpStream,
    answers: BufReader<TcpStream>,
    _process: Process,
}

impl Server {
    fn start(env: &Env) -> Self {
        let run = unique("redis");
        let (port, bus) = (free_port(), free_port());
        let mut command = guarded(script("redis"));
        command
            .arg(env.root().join(&run))
            .args([port, bus].map(|port| port.to_string()));
        let mut process = Process::start(&run, command, &env.root().join(format!("{run}.log")));
        let requests = wait_for("Redis to listen", DEADLINE, || {
            process.assert_running();
            TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())
        });
        requests
            .set_read_timeout(Some(DEADLINE))
            .expect("a timeout");
        let answers = requests.try_clone().map(BufReader::new);
        Self {
            requests,
            answers: answers.expect("a second handle"),
            _process: process,
        }
    }

    /// Asks for the slots of many keys, a batch in one write.
    fn slots(&mut self, keys: &[Vec<u8>]) -> Vec<u16> {
        // Small enough that the answers fit in the sockets' buffers while the questions are still being written.
        keys.chunks(1_000)
            .flat_map(|batch| self.batch(batch))
            .collect()
    }

    fn batch(&mut self, keys: &[Vec<u8>]) -> Vec<u16> {
        let mut questions = Vec::new();
        for key in keys {
            let length = key.len();
            let head = format!("*3\r\n$7\r\nCLUSTER\r\n$7\r\nKEYSLOT\r\n${length}\r\n");
            questions.extend_from_slice(head.as_bytes());
            questions.extend_from_slice(key);
            questions.extend_from_slice(b"\r\n");
        }
        self.requests
            .write_all(&questions)
            .expect("Redis does not read");
        keys.iter().map(|_| self.slot()).collect()
    }

    fn slot(&mut self) -> u16 {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .expect("Redis does not answer");
        line.strip_prefix(':')
            .and_then(|number| number.trim_end().parse().ok())
            .unwrap_or_else(|| panic!("Redis answers {line:?}"))
    }
}
