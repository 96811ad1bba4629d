//! What Kafka would show once some actions were carried out: a dry run decides again on that.

use super::decision::Actions;
use super::observed::{Records, TopicReading, TopicState, TopicView, View};

/// The view after `actions`. Topics that do not exist yet get an empty id, and where the broker chooses the replication
/// factor it is -1, as in Kafka's own requests.
pub fn predict(view: &View, actions: &Actions) -> View {
    let mut view = view.clone();
    for create in &actions.creates {
        let created = TopicState {
            id: String::new(),
            partitions: create.partitions,
            replication_factor: create.replication_factor.unwrap_or(-1),
            records: Records::None,
            config: Some(create.config.clone()),
        };
        let seen = TopicView {
            reading: TopicReading::Present(created),
            misses: 0,
        };
        view.topics.insert(create.topic.clone(), seen);
    }
    for grow in &actions.growths {
        if let Some(live) = live(&mut view, &grow.topic) {
            live.partitions = grow.to;
        }
    }
    for alter in &actions.configs {
        if let Some(config) = live(&mut view, &alter.topic).and_then(|live| live.config.as_mut()) {
            config.extend(alter.set.clone());
        }
    }
    view
}

fn live<'a>(view: &'a mut View, topic: &str) -> Option<&'a mut TopicState> {
    match &mut view.topics.get_mut(topic)?.reading {
        TopicReading::Present(live) => Some(live),
        _ => None,
    }
}
