//! What holds of a step as a whole, beside the rules that hold of a decision.

use super::super::rules::{Broken, Rules, holds};
use super::operator::{number, position};
use super::state::{Outcome, Seen, Slot, choose, view};
use super::*;

impl Moment {
    pub(super) fn nothing_is_lost(&self, before: &[Slot]) -> Outcome {
        for (was, is) in before.iter().zip(&self.kafka) {
            let Some(was) = was.live else {
                continue;
            };
            let kept = is
                .live
                .is_some_and(|is| is.made == was.made && is.count >= was.count);
            holds!(Rule::Deletion, kept, "{was:?} is {is:?}");
        }
        Ok(())
    }

    /// Topics that had one count have one, or it is said that they do not, and the next pass sees to it. Whether they
    /// parted.
    pub(super) fn equal_stays_equal(
        &self,
        shape: &Shape,
        before: &[Slot],
        grown: &[usize],
        wanted: &Group,
        memory: &Memory,
        seen: &[Seen],
    ) -> Result<bool, Broken> {
        let managed = |topic: &usize| shape.topics[*topic];
        let count = |kafka: &[Slot], topic: usize| kafka[topic].live.map(|live| live.count);
        let parted = grown.iter().any(|topic| {
            (0..before.len()).filter(managed).any(|other| {
                count(before, other) == count(before, *topic)
                    && count(&self.kafka, other) != count(&self.kafka, *topic)
            })
        });
        if !parted {
            return Ok(false);
        }
        let look = |kafka: &[Slot]| -> Vec<Seen> {
            seen.iter()
                .zip(kafka)
                .map(|(seen, slot)| seen.then(*slot).then(*slot))
                .collect()
        };
        let view = view(&look(&self.kafka));
        let next = choose(wanted, memory, &view, false);
        let said = report(wanted, &next, &Outcomes::default());
        let mut said = said.conditions.iter();
        let counts = said
            .find(|c| c.kind == ConditionType::PartitionsAligned)
            .unwrap();
        holds!(
            Rule::Equal,
            (counts.state, counts.reason) == (State::False, Reason::GrowthIncomplete),
            "{} of {:?}",
            counts.message,
            self.kafka
        );
        let mut kafka = self.kafka.clone();
        for grow in &next.actions.growths {
            let live = kafka[position(&grow.topic)].live.as_mut().unwrap();
            live.count = number(grow.to);
        }
        let equal = grown.iter().all(|topic| {
            (0..before.len()).filter(managed).all(|other| {
                count(before, other) != count(before, *topic)
                    || count(&kafka, other) == count(&kafka, *topic)
            })
        });
        holds!(Rule::Equal, equal, "the next pass leaves {kafka:?}");
        Ok(true)
    }
}

/// What is decided with memory is allowed without, where the spec declares a count: memory holds back, it permits
/// nothing. And a growth that nobody remembers anything of needs its consent all the same.
pub(super) fn memory_only_restricts(rules: Rules<'_>, decision: &Decision, rival: bool) -> Outcome {
    if decision.actions.is_empty() {
        return Ok(());
    }
    let forgetful = |memory: &Memory| choose(rules.group, memory, rules.view, rival);
    let nothing = forgetful(&Memory::default());
    if rules.group.partitions.is_some() {
        let (with, without) = (&decision.actions, &nothing.actions);
        holds!(
            Rule::Memory,
            with.growths
                .iter()
                .all(|grow| without.growths.contains(grow))
                && with
                    .creates
                    .iter()
                    .all(|create| without.creates.contains(create)),
            "{with:?}, and without memory {without:?}"
        );
    }
    let free = Rules {
        memory: &Memory::default(),
        used: &BTreeSet::new(),
        ..rules
    };
    free.check(&nothing)?;
    let mut other = rules.group.clone();
    for topic in &mut other.topics {
        topic.scheme = Some(KeyScheme::parse("uuid", "crc32").unwrap());
    }
    let otherwise = choose(&other, rules.memory, rules.view, rival);
    holds!(
        Rule::Keys,
        (&otherwise.actions, &otherwise.memory) == (&decision.actions, &decision.memory),
        "{otherwise:?}"
    );
    Ok(())
}
