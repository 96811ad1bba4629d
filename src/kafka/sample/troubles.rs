//! What hinders a reading: errors of partitions, and topics that are gone.

use std::collections::{BTreeMap, BTreeSet};

use super::super::chunk::DESCRIBE_LIMIT;
use super::super::error::TopicError;
use super::super::ffi::{self, Failure, code};
use super::super::permissions::{self, Operation};
use super::ledger::Key;
use super::ranges;
use super::reader::Reader;
use super::request::Incomplete;

impl Reader<'_> {
    /// An error of one partition, or its end. True if it is to be read again from where it begins now.
    pub(super) fn failed(&mut self, key: Key, failure: Failure) -> bool {
        let topic = self.ledger.name(key.0).to_owned();
        match failure.code {
            code::PARTITION_EOF => {
                self.ledger.close(key, None);
                self.session.pause(&topic, key.1);
            }
            // Retention took the records between the look at the offsets and their turn; or it is another topic.
            code::AUTO_OFFSET_RESET => {
                match ranges::beginning(&self.session, &topic, key.1, self.deadline) {
                    Ok(low) if self.ledger.skip_to(key, low) => return true,
                    Ok(_) => {
                        let Failure { name, message, .. } = failure;
                        let code = name;
                        self.ledger
                            .close(key, Some(Incomplete::Rejected { code, message }));
                    }
                    Err(reason) => self.ledger.close(key, Some(reason)),
                }
            }
            gone if code::is_gone(gone) => self.ledger.fail(key.0, &Incomplete::TopicDeleted),
            denied if code::is_unauthorized(denied) => {
                let words = permissions::denied(Operation::Read, &topic, &failure.message);
                self.ledger.fail(key.0, &Incomplete::NotAuthorized(words));
            }
            // The library tries again.
            lost if code::is_undelivered(lost) => {}
            _ => self.ledger.close(key, Some(TopicError::of(failure).into())),
        }
        false
    }

    /// Nothing comes: are the topics still there? A broker that has just started may not know them yet, so that the
    /// second miss counts. If no broker answers, the probe learns why.
    pub(super) fn look(&mut self) {
        if self.session.probe(self.deadline).is_err() {
            return;
        }
        let open: BTreeSet<usize> = self.ledger.all_open().iter().map(|key| key.0).collect();
        let missing = self.missing(&open);
        for topic in missing.intersection(&self.missed) {
            self.ledger.fail(*topic, &Incomplete::TopicDeleted);
        }
        self.missed = missing;
    }

    /// Which of these topics are not there any more, or are others.
    fn missing(&self, topics: &BTreeSet<usize>) -> BTreeSet<usize> {
        let named = |topic: &usize| (self.ledger.name(*topic).to_owned(), *topic);
        let topics: BTreeMap<String, usize> = topics.iter().map(named).collect();
        let names: Vec<String> = topics.keys().cloned().collect();
        let mut missing = BTreeSet::new();
        for names in names.chunks(DESCRIBE_LIMIT) {
            let described = self.session.ask_any(self.deadline, |handle, limits| {
                ffi::describe_topics(handle, limits, names)
            });
            for (name, found) in described.into_iter().flatten() {
                let Some(topic) = topics.get(&name) else {
                    continue;
                };
                let gone = match found {
                    Ok(found) => self.ledger.id(*topic) != Some(&found.id),
                    Err(failure) => code::is_gone(failure.code),
                };
                if gone {
                    missing.insert(*topic);
                }
            }
        }
        missing
    }

    /// Records of a topic that took the name of another during the reading are no records of it.
    pub(super) fn verify(&mut self) {
        if self.cancel.is_cancelled() {
            return;
        }
        let given: BTreeSet<usize> = self.ledger.given().into_iter().collect();
        for topic in self.missing(&given) {
            self.ledger.fail(topic, &Incomplete::TopicDeleted);
        }
    }
}
