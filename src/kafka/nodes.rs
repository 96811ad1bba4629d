//! Which broker to ask next.

use std::time::{Duration, Instant};

/// How long one broker is asked before another one gets its turn. Staying with one keeps answers in order: two
/// brokers that learn of a change at different times would show it come and go. Staying for ever would trust
/// one that was cut off from the controllers and still answers.
const TURN: Duration = Duration::from_secs(300);

/// The brokers of a cluster, and the one whose turn it is.
///
/// Left to itself, the client library asks the controller. With `KRaft` that is whichever broker the last
/// answer named, and when that one dies, requests wait for it until the library happens to ask another broker
/// for news (five minutes by default).
#[derive(Debug, Default)]
pub(super) struct Nodes {
    ids: Vec<i32>,
    turn: Option<(i32, Instant)>,
}

impl Nodes {
    /// Takes in the ids of the brokers, as one of them told.
    pub(super) fn know(&mut self, mut ids: Vec<i32>) {
        ids.sort_unstable();
        ids.dedup();
        self.ids = ids;
    }

    /// The ids of all that are known.
    pub(super) fn all(&self) -> &[i32] {
        &self.ids
    }

    /// The broker to ask; `None` as long as none is known.
    pub(super) fn current(&mut self, now: Instant) -> Option<i32> {
        let fresh = |(_, since): &(i32, Instant)| now.duration_since(*since) < TURN;
        if !self.turn.as_ref().is_some_and(fresh) {
            self.pass(now);
        }
        self.turn.map(|(id, _)| id)
    }

    /// A broker did not answer: the turn passes to another one, if it was this one's.
    pub(super) fn silent(&mut self, id: Option<i32>, now: Instant) {
        if self.turn.map(|(id, _)| id) == id {
            self.pass(now);
        }
    }

    /// Whether there is another broker to ask.
    pub(super) fn has_others(&self) -> bool {
        self.ids.len() > 1
    }

    fn pass(&mut self, now: Instant) {
        let last = self.turn.map(|(id, _)| id);
        let after = self
            .ids
            .iter()
            .find(|id| last.is_some_and(|last| **id > last));
        self.turn = after.or(self.ids.first()).map(|id| (*id, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_passes_when_a_broker_is_silent() {
        let now = Instant::now();
        let mut nodes = Nodes::default();
        assert_eq!(nodes.current(now), None);
        nodes.silent(None, now);
        assert_eq!((nodes.current(now), nodes.has_others()), (None, false));
        nodes.know(vec![3, 1, 2, 1]);
        assert!(nodes.has_others());
        assert_eq!(nodes.current(now), Some(1));
        assert_eq!(nodes.current(now), Some(1));
        nodes.silent(Some(1), now);
        assert_eq!(nodes.current(now), Some(2));
        // Two requests that waited for the same broker pass the turn once.
        nodes.silent(Some(1), now);
        assert_eq!(nodes.current(now), Some(2));
        nodes.silent(Some(2), now);
        nodes.silent(Some(3), now);
        assert_eq!(nodes.current(now), Some(1));
    }

    #[test]
    fn the_turn_passes_with_time_too() {
        let now = Instant::now();
        let mut nodes = Nodes::default();
        nodes.know(vec![1, 2]);
        assert_eq!(nodes.current(now), Some(1));
        assert_eq!(nodes.current(now + TURN / 2), Some(1));
        assert_eq!(nodes.current(now + TURN), Some(2));
        assert_eq!(nodes.current(now + TURN * 3 / 2), Some(2));
    }

    #[test]
    fn a_broker_that_left_keeps_its_turn_only_until_it_is_silent() {
        let now = Instant::now();
        let mut nodes = Nodes::default();
        nodes.know(vec![1, 2]);
        nodes.current(now);
        nodes.know(vec![2, 3]);
        assert_eq!(nodes.current(now), Some(1));
        nodes.silent(Some(1), now);
        assert_eq!(nodes.current(now), Some(2));
        nodes.know(vec![]);
        nodes.silent(Some(2), now);
        assert_eq!(nodes.current(now), None);
    }
}
