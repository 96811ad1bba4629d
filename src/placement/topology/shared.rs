//! Which sources meet in stores.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{Kind, SubTopology};
use super::{Shared, Sources};

/// Groups of nodes that were found to belong together.
struct Groups(Vec<usize>);

impl Groups {
    fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            // Halves the way for the next one.
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The sources whose records come to a common store. It takes time in proportion to the text, whatever it describes.
///
/// Of an edge to a node from which a store is reached, both ends belong together: whatever comes to the first comes to
/// that store. A node with stores belongs together with all others of these stores.
pub(super) fn shared(sub: &SubTopology, internal: &BTreeSet<&str>) -> Vec<Shared> {
    let leads = leading_to_stores(sub);
    let mut groups = Groups((0..sub.nodes.len()).collect());
    let mut of_store: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, node) in sub.nodes.iter().enumerate() {
        for next in node.next.iter().filter(|next| leads[**next]) {
            groups.join(at, *next);
        }
        if let Kind::Processor { stores } = &node.kind {
            for store in stores {
                let first = *of_store.entry(store).or_insert(at);
                groups.join(at, first);
            }
        }
    }
    let mut found: BTreeMap<usize, Shared> = BTreeMap::new();
    let mut group = |groups: &mut Groups, at: usize, add: &dyn Fn(&mut Shared)| {
        let shared = found.entry(groups.root(at)).or_insert_with(|| Shared {
            sources: Sources::default(),
            stores: Vec::new(),
        });
        add(shared);
    };
    for (at, node) in sub.nodes.iter().enumerate() {
        if leads[at] {
            group(&mut groups, at, &|it| it.sources.take(&node.kind, internal));
        }
    }
    for (store, at) in of_store {
        group(&mut groups, at, &|it| it.stores.push(store.to_owned()));
    }
    let several = |it: &Shared| it.sources.len() > 1 || !it.sources.patterns.is_empty();
    found.into_values().filter(several).collect()
}

/// Of each node, whether it has a store or its records come to one.
fn leading_to_stores(sub: &SubTopology) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); sub.nodes.len()];
    for (at, node) in sub.nodes.iter().enumerate() {
        for next in &node.next {
            before[*next].push(at);
        }
    }
    let has_stores = |at: &usize| matches!(&sub.nodes[*at].kind, Kind::Processor { stores } if !stores.is_empty());
    let mut open: Vec<usize> = (0..sub.nodes.len()).filter(has_stores).collect();
    let mut leads = vec![false; sub.nodes.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            open.extend(&before[at]);
        }
    }
    leads
}
