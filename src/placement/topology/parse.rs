//! The text of `Topology#describe()`, line by line.

use std::collections::BTreeMap;
use std::fmt;

/// A sub-topology as it is described.
#[derive(Debug)]
pub(super) struct SubTopology {
    pub(super) id: String,
    /// Whether it fills global stores.
    pub(super) global: bool,
    pub(super) nodes: Vec<Node>,
}

/// A node of it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Where its records go, by their place in the list of nodes.
    pub(super) next: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A source of topics.
    Topics(Vec<String>),
    /// A source of all topics that a pattern fits.
    Pattern(String),
    Processor {
        stores: Vec<String>,
    },
    Sink {
        /// `None` where each record says to which.
        topic: Option<String>,
    },
}

/// A text that no topology is described by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

/// How much of a line is shown, in characters.
const SHOWN: usize = 80;

const GLOBAL: &str = " for global store (will not generate tasks)";

/// A sub-topology while its lines are read: names are looked up at its end, since successors come before they are described.
struct Open {
    sub: SubTopology,
    line: usize,
    at: BTreeMap<String, usize>,
    /// Of each node its line of successors.
    next: Vec<(usize, Option<String>)>,
}

pub(super) fn parse(text: &str) -> Result<Vec<SubTopology>, Malformed> {
    let mut done = Vec::new();
    let mut open: Option<Open> = None;
    // `None` before the description begins; then the prefix of a named topology.
    let mut prefix: Option<String> = None;
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let line = line.trim();
        let malformed = |problem: String| Malformed {
            line: number,
            problem,
        };
        if let Some(named) = header(line) {
            if let Some(open) = open.take() {
                done.push(open.close()?);
            }
            prefix = Some(named);
        } else if let Some(id) = line.strip_prefix("Sub-topology: ") {
            if let Some(open) = open.take() {
                done.push(open.close()?);
            }
            let prefix = prefix.get_or_insert_default();
            open = Some(Open::new(prefix, id, number).map_err(malformed)?);
        } else if prefix.is_none() || line.is_empty() {
            // Not there yet, or between two.
        } else if let Some(open) = &mut open {
            open.take(line, number).map_err(malformed)?;
        } else {
            return Err(malformed(format!(
                "wanted \"Sub-topology: N\", seen {}",
                quoted(line)
            )));
        }
    }
    if let Some(open) = open.take() {
        done.push(open.close()?);
    }
    if done.is_empty() {
        let problem = if prefix.is_some() {
            "the topology has no sub-topologies: nothing was added to it when it was described"
        } else {
            "there is no \"Topologies:\" in it; wanted what Topology#describe() prints"
        };
        return Err(Malformed {
            line: last,
            problem: problem.to_owned(),
        });
    }
    Ok(done)
}

/// The prefix of ids, if a description begins with this line. Before `Topologies:` may stand what a log writes.
fn header(line: &str) -> Option<String> {
    if line.ends_with("Topologies:") {
        return Some(String::new());
    }
    let name = line.strip_prefix("Topology: ")?.strip_suffix(':')?;
    Some(format!("{name}/"))
}

impl Open {
    fn new(prefix: &str, id: &str, line: usize) -> Result<Self, String> {
        let (number, global) = match id.strip_suffix(GLOBAL) {
            Some(number) => (number, true),
            None => (id, false),
        };
        if number.parse::<u32>().is_err() {
            return Err(format!(
                "wanted the number of a sub-topology, seen {}",
                quoted(id)
            ));
        }
        Ok(Self {
            sub: SubTopology {
                id: format!("{prefix}{number}"),
                global,
                nodes: Vec::new(),
            },
            line,
            at: BTreeMap::new(),
            next: Vec::new(),
        })
    }

    fn take(&mut self, line: &str, number: usize) -> Result<(), String> {
        if let Some(names) = line.strip_prefix("-->") {
            let next = self.next.last_mut().filter(|(_, names)| names.is_none());
            let (at, next) =
                next.ok_or_else(|| format!("these successors follow no node: {}", quoted(line)))?;
            *at = number;
            *next = Some(names.trim().to_owned());
            return Ok(());
        }
        if line.starts_with("<--") && !self.next.is_empty() {
            // The same edges seen from the other end.
            return Ok(());
        }
        let (name, kind) = node(line)?;
        let at = self.sub.nodes.len();
        if self.at.insert(name.to_owned(), at).is_some() {
            return Err(format!("the node {} is there twice", quoted(name)));
        }
        self.sub.nodes.push(Node {
            kind,
            next: Vec::new(),
        });
        self.next.push((number, None));
        Ok(())
    }

    fn close(mut self) -> Result<SubTopology, Malformed> {
        if self.sub.nodes.is_empty() {
            return Err(Malformed {
                line: self.line,
                problem: format!("the sub-topology {} has no nodes", self.sub.id),
            });
        }
        for (node, (line, names)) in self.sub.nodes.iter_mut().zip(self.next) {
            let malformed = |problem: String| Malformed { line, problem };
            match (&node.kind, names) {
                (Kind::Sink { .. }, None) => {}
                (_, None) => {
                    return Err(malformed(
                        "this node's successors are missing; wanted a line \"--> ...\"".to_owned(),
                    ));
                }
                (_, Some(names)) if names == "none" => {}
                (_, Some(names)) => {
                    for name in names.split(", ") {
                        let at = self.at.get(name).ok_or_else(|| {
                            malformed(format!(
                                "the successor {} is not described in this sub-topology",
                                quoted(name)
                            ))
                        })?;
                        node.next.push(*at);
                    }
                }
            }
        }
        Ok(self.sub)
    }
}

/// A node's name and what it is.
fn node(line: &str) -> Result<(&str, Kind), String> {
    let split = |rest: &'static str, before: &'static str| -> Option<(&str, &str)> {
        let (name, inner) = line.strip_prefix(rest)?.split_once(before)?;
        Some((name, inner.strip_suffix(')')?))
    };
    if let Some((name, topics)) = split("Source: ", " (topics: ") {
        let listed = list(topics).filter(|topics| topics.iter().all(|topic| is_topic(topic)));
        let kind = match listed {
            Some(topics) if !topics.is_empty() => Kind::Topics(topics),
            // A pattern of one class, as [abc], cannot be told from a list.
            _ => Kind::Pattern(topics.to_owned()),
        };
        return Ok((name, kind));
    }
    if let Some((name, stores)) = split("Processor: ", " (stores: ") {
        let stores = list(stores).ok_or_else(|| {
            format!(
                "wanted the stores of a processor in brackets, seen {}",
                quoted(stores)
            )
        })?;
        return Ok((name, Kind::Processor { stores }));
    }
    if let Some((name, topic)) = split("Sink: ", " (topic: ") {
        let topic = Some(topic.to_owned());
        return Ok((name, Kind::Sink { topic }));
    }
    if let Some((name, _)) = split("Sink: ", " (extractor class: ") {
        return Ok((name, Kind::Sink { topic: None }));
    }
    Err(format!(
        "wanted a Source, Processor or Sink, or its \"-->\" and \"<--\", seen {}",
        quoted(line)
    ))
}

/// `[a, b]`.
fn list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let items = inner.split(", ").filter(|item| !item.is_empty());
    Some(items.map(str::to_owned).collect())
}

fn is_topic(name: &str) -> bool {
    name.len() <= 249
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"._-".contains(&letter))
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        format!("{shown:?}...")
    } else {
        format!("{shown:?}")
    }
}
