//! The connections of one reader to the brokers of one cluster. They stay open between its questions, and close with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::super::error::Error;
use super::broker::Broker;
use super::messages::{Node, Request, Versions};
use super::{Failure, Way};

/// So many connections stay open at most; one more closes all of them.
const MOST_OPEN: usize = 100;

/// Some connections to one cluster.
pub(in crate::kafka) struct Session {
    way: Arc<Way>,
    bootstrap: Vec<Node>,
    open: BTreeMap<Node, Broker>,
}

impl Session {
    pub(super) fn new(way: Arc<Way>, servers: &[String]) -> Self {
        Self {
            way,
            bootstrap: servers.iter().filter_map(|server| node(server)).collect(),
            open: BTreeMap::new(),
        }
    }

    /// Asks any broker: one that is connected to, else the first of the given ones that answers.
    pub(in crate::kafka) async fn ask<Q: Request>(
        &mut self,
        request: &Q,
    ) -> Result<Q::Answer, Failure> {
        let connected = self
            .open
            .keys()
            .filter(|node| self.bootstrap.contains(node));
        let connected: Vec<Node> = connected.cloned().collect();
        let mut others = self.bootstrap.clone();
        others.retain(|node| !connected.contains(node));
        let mut failure = Failure::Failed(Error::Unreachable(
            "none of the addresses is host:port".to_owned(),
        ));
        for node in connected.into_iter().chain(others) {
            match self.ask_at(&node, request).await {
                Err(error @ (Failure::Lost(_) | Failure::Failed(_))) => failure = error,
                answer => return answer,
            }
        }
        Err(failure)
    }

    /// Asks one broker, within the time of one request.
    pub(in crate::kafka) async fn ask_at<Q: Request>(
        &mut self,
        node: &Node,
        request: &Q,
    ) -> Result<Q::Answer, Failure> {
        let timeout = self.way.timeout;
        let asked = tokio::time::timeout(timeout, self.exchange(node, request)).await;
        asked.unwrap_or_else(|_| {
            Err(Failure::Failed(Error::Timeout(format!(
                "{}:{} did not answer within {timeout:?}",
                node.host, node.port
            ))))
        })
    }

    /// What the first broker that answers speaks.
    pub(in crate::kafka) async fn versions(&mut self) -> Result<Versions, Failure> {
        let mut failure = Failure::Failed(Error::Unreachable(
            "none of the addresses is host:port".to_owned(),
        ));
        for node in self.bootstrap.clone() {
            let connected =
                tokio::time::timeout(self.way.timeout, Broker::connect(&self.way, &node));
            match connected.await {
                Ok(Ok(broker)) => {
                    let versions = broker.versions().clone();
                    self.keep(node, broker);
                    return Ok(versions);
                }
                Ok(Err(error)) => failure = error,
                Err(_) => {
                    let words = format!("{}:{} did not answer", node.host, node.port);
                    failure = Failure::Failed(Error::Timeout(words));
                }
            }
        }
        Err(failure)
    }

    /// While a request is under way its connection belongs to it, so that one that is dropped halfway is closed.
    async fn exchange<Q: Request>(
        &mut self,
        node: &Node,
        request: &Q,
    ) -> Result<Q::Answer, Failure> {
        if let Some(mut broker) = self.open.remove(node)
            && broker.is_fresh(Instant::now())
        {
            match broker.call(request).await {
                // Brokers close connections that were idle for minutes.
                Err(Failure::Lost(_)) => {}
                answer => {
                    self.keep_if_in_step(node, broker, &answer);
                    return answer;
                }
            }
        }
        let mut broker = Broker::connect(&self.way, node).await?;
        let answer = broker.call(request).await;
        self.keep_if_in_step(node, broker, &answer);
        answer
    }

    fn keep_if_in_step<T>(&mut self, node: &Node, broker: Broker, answer: &Result<T, Failure>) {
        if matches!(answer, Ok(_) | Err(Failure::Unsupported(_))) {
            self.keep(node.clone(), broker);
        }
    }

    fn keep(&mut self, node: Node, broker: Broker) {
        if self.open.len() >= MOST_OPEN {
            self.open.clear();
        }
        self.open.insert(node, broker);
    }
}

/// `host:port`, with an IPv6 address in brackets.
fn node(server: &str) -> Option<Node> {
    let (host, port) = server.rsplit_once(':')?;
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    Some(Node {
        host: host.to_owned(),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_host_and_port() {
        let of = |text: &str| node(text).map(|node| (node.host, node.port));
        assert_eq!(of("kafka:9092"), Some(("kafka".to_owned(), 9092)));
        assert_eq!(of("[::1]:9093"), Some(("::1".to_owned(), 9093)));
        assert_eq!(of("kafka"), None);
        assert_eq!(of("kafka:x"), None);
    }
}
