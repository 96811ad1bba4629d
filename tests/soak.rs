//! `make soak`: random edits of groups, other people at work on Kafka, broker and operator killed at random; and then an
//! account of it all. A short one runs with all tests.

mod account;
mod history;
mod people;

use std::time::{Duration, Instant};

use crate::env::{Env, KafkaCluster, KafkaOptions};
use account::{converge, heal, is_still};
use history::History;
use people::People;

/// How many random steps lie between two looks at the account.
const STEPS: usize = 15;

/// How long it goes on.
#[derive(Clone, Copy)]
enum Limit {
    Rounds(usize),
    Until(Instant),
}

impl Limit {
    fn is_reached(self, rounds: usize) -> bool {
        match self {
            Limit::Rounds(most) => rounds >= most,
            Limit::Until(end) => Instant::now() >= end,
        }
    }
}

/// One round, of the same steps each time.
pub(crate) fn a_short_one_leaves_an_exact_account(env: &Env) {
    soak(env, 1, Limit::Rounds(1));
}

/// As many minutes as `MINUTES` says, with the seed `SEED` or one of the time.
pub(crate) fn a_long_one_leaves_an_exact_account(env: &Env) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let minutes = number("MINUTES").unwrap_or(10);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = number("SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_secs()));
    soak(
        env,
        seed,
        Limit::Until(Instant::now() + Duration::from_secs(60 * minutes)),
    );
}

fn soak(env: &Env, seed: u64, limit: Limit) {
    println!("soak: SEED={seed}");
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let history = History::new(&kafka, seed);
    let mut people = People::new(env, kafka, history, seed);
    let mut rounds = 0;
    while !limit.is_reached(rounds) {
        for _ in 0..STEPS {
            people.step();
        }
        people.repair();
        converge(&mut people);
        people.history.assert_explained();
        rounds += 1;
    }
    heal(&mut people);
    people.history.assert_explained();
    people.assert_records();
    people.assert_claims();
    is_still(&people);
    println!(
        "soak: SEED={seed}, {rounds} rounds\n{}",
        people.history.figures()
    );
}
