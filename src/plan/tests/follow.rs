//! A person who reads the message of `PartitionsAligned` and does what it says, by its words alone.

use super::*;

impl World {
    pub(super) fn follows_the_message(&mut self) {
        let said = self.condition(ConditionType::PartitionsAligned);
        let message = said.message;
        for part in message.split("copartition.dev/acknowledge: \"").skip(1) {
            let id = part.split('"').next().unwrap();
            self.acknowledges(id);
        }
        if let Some(count) = after(&message, "spec.partitions: ", &[' ', ';']) {
            self.wants(count.parse().unwrap());
        }
        if let Some(topics) = after(&message, "topics: [", &[']']) {
            let from = after(&message, "fromPartitions: ", &[',']).unwrap();
            let to = after(&message, "toPartitions: ", &[',', '}']).unwrap();
            let topics: Vec<&str> = topics.split(", ").collect();
            self.consent(&topics, from.parse().unwrap(), to.parse().unwrap());
        }
        if let Some(ids) = after(&message, "topicIds: [", &[']']) {
            let ids: Vec<&str> = ids.split(", ").collect();
            self.with_ids(&ids);
        }
        // These two leave the number to the reader.
        match said.reason {
            Reason::CountsDisagree => {
                let counts = message.split(" has ").skip(1);
                let counts = counts.map(|rest| rest.split([',', '.']).next().unwrap());
                let highest = counts.map(|count| count.parse().unwrap()).max();
                self.wants(highest.unwrap());
            }
            Reason::CountUnknown => {
                self.wants(3);
            }
            _ => {}
        }
    }
}

fn after<'a>(message: &'a str, start: &str, end: &[char]) -> Option<&'a str> {
    let (_, rest) = message.split_once(start)?;
    rest.split(end).next()
}
