//! Whether the rules of a connection allow what a group asks for. No IO.

use std::collections::BTreeMap;

use kube::core::{Selector, SelectorExt};
use regex::{Regex, RegexBuilder};

use crate::api::{
    AccessRule, ConsumerGroupRef, GroupSpec, Management, Mode, NameMatch, ReferenceGuard,
};

/// How large a compiled pattern may be, in bytes: what a connection's author writes must not take the operator's memory.
const LARGEST_PATTERN: usize = 1 << 20;

/// The rules of one connection, ready to be asked.
#[derive(Debug, Default)]
pub(in crate::controller) struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    names: Vec<String>,
    selector: Option<Selector>,
    manage: Vec<Names>,
    reference: Vec<Names>,
    guards: bool,
    sample: Vec<Names>,
    consumer_groups: Vec<ConsumerGroupRef>,
}

/// Which topic names.
#[derive(Debug)]
enum Names {
    Exactly(String),
    Prefix(String),
    Pattern(Regex),
}

impl Names {
    fn of(names: &NameMatch) -> Result<Self, String> {
        match (&names.name, &names.prefix, &names.pattern) {
            (Some(name), None, None) => Ok(Self::Exactly(name.clone())),
            (None, Some(prefix), None) => Ok(Self::Prefix(prefix.clone())),
            (None, None, Some(pattern)) => RegexBuilder::new(&format!("^(?:{pattern})$"))
                .size_limit(LARGEST_PATTERN)
                .build()
                .map(Self::Pattern)
                .map_err(|error| {
                    format!("the pattern {pattern:?} is no regular expression: {error}")
                }),
            _ => Err("give exactly one of name, prefix and pattern".to_owned()),
        }
    }

    fn cover(&self, topic: &str) -> bool {
        match self {
            Self::Exactly(name) => name == topic,
            Self::Prefix(prefix) => topic.starts_with(prefix),
            Self::Pattern(pattern) => pattern.is_match(topic),
        }
    }
}

/// What somebody wants to do with a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Manage,
    Reference,
    Sample,
}

impl Use {
    /// The word of the rules, and of messages.
    fn word(self) -> &'static str {
        match self {
            Use::Manage => "manage",
            Use::Reference => "reference",
            Use::Sample => "sample",
        }
    }
}

impl Rules {
    /// Compiles rules. Those that cannot be used allow nothing; what is wrong with them is returned too, one sentence each.
    pub(in crate::controller) fn new(rules: &[AccessRule]) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut compiled = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            let mut names = |field: &str, matches: &[NameMatch]| {
                let of = |names: &NameMatch| match Names::of(names) {
                    Ok(names) => Some(names),
                    Err(problem) => {
                        problems.push(format!("rules[{number}].{field}: {problem}"));
                        None
                    }
                };
                matches.iter().filter_map(of).collect::<Vec<_>>()
            };
            let manage = names("manage", &rule.manage);
            let reference = names("reference", &rule.reference);
            let sample = names("sample", &rule.sample);
            let selector = rule.namespaces.selector.clone().map(Selector::try_from);
            let selector = match selector.transpose() {
                Ok(selector) => selector,
                Err(error) => {
                    problems.push(format!("rules[{number}].namespaces.selector: {error}"));
                    None
                }
            };
            compiled.push(Rule {
                names: rule.namespaces.names.clone(),
                selector,
                manage,
                reference,
                guards: rule.reference_guard == Some(ReferenceGuard::Deny),
                sample,
                consumer_groups: rule.consumer_groups.clone(),
            });
        }
        (Rules(compiled), problems)
    }

    /// Whether any rule looks at the labels of namespaces.
    pub(in crate::controller) fn need_labels(&self) -> bool {
        self.0.iter().any(|rule| rule.selector.is_some())
    }

    /// Whether admission policies shall deny other counts to a topic that a group of this namespace refers to: one of the
    /// rules that let it do so says that.
    pub(in crate::controller) fn guard(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
        topic: &str,
    ) -> bool {
        self.0.iter().any(|rule| {
            rule.guards
                && rule.is_about(namespace, labels)
                && rule.reference.iter().any(|names| names.cover(topic))
        })
    }

    /// What a group of this namespace asks for and no rule allows, one sentence a kind of use.
    pub(in crate::controller) fn refuse(
        &self,
        namespace: &str,
        labels: &BTreeMap<String, String>,
        spec: &GroupSpec,
    ) -> Vec<String> {
        let rules: Vec<&Rule> = self
            .0
            .iter()
            .filter(|rule| rule.is_about(namespace, labels))
            .collect();
        let mut refused: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for topic in &spec.topics {
            let observed = spec.mode == Some(Mode::Observe);
            let managed = !observed && topic.management != Some(Management::Referenced);
            let asked = [
                Some(if managed { Use::Manage } else { Use::Reference }),
                spec.verification.is_some().then_some(Use::Sample),
            ];
            for asked in asked.into_iter().flatten() {
                if !rules.iter().any(|rule| rule.allows(asked, &topic.name)) {
                    refused.entry(asked.word()).or_default().push(&topic.name);
                }
            }
        }
        let mut said: Vec<String> = refused
            .into_iter()
            .map(|(word, topics)| {
                format!(
                    "the namespace {namespace} may not {word} {}",
                    topics.join(", ")
                )
            })
            .collect();
        for group in &spec.consumer_groups {
            if !rules.iter().any(|rule| rule.allows_group(group)) {
                said.push(format!(
                    "the namespace {namespace} may not read the consumer groups {}",
                    group_words(group)
                ));
            }
        }
        said
    }
}

impl Rule {
    /// By name or by label: either is enough.
    fn is_about(&self, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
        self.names.iter().any(|name| name == namespace)
            || self
                .selector
                .as_ref()
                .is_some_and(|selector| selector.matches(labels))
    }

    /// Who may manage a topic may look at it as well.
    fn allows(&self, asked: Use, topic: &str) -> bool {
        let cover = |names: &[Names]| names.iter().any(|names| names.cover(topic));
        match asked {
            Use::Manage => cover(&self.manage),
            Use::Reference => cover(&self.reference) || cover(&self.manage),
            Use::Sample => cover(&self.sample),
        }
    }

    fn allows_group(&self, asked: &ConsumerGroupRef) -> bool {
        self.consumer_groups.iter().any(|allowed| {
            match (
                &allowed.group_id,
                &allowed.prefix,
                &asked.group_id,
                &asked.prefix,
            ) {
                (Some(allowed), None, Some(asked), None) => allowed == asked,
                (None, Some(allowed), Some(asked), None)
                | (None, Some(allowed), None, Some(asked)) => asked.starts_with(allowed.as_str()),
                _ => false,
            }
        })
    }
}

fn group_words(group: &ConsumerGroupRef) -> String {
    match (&group.group_id, &group.prefix) {
        (Some(id), _) => id.clone(),
        (None, Some(prefix)) => format!("{prefix}*"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(rules: Value) -> (Rules, Vec<String>) {
        let rules: Vec<AccessRule> = serde_json::from_value(rules).unwrap();
        Rules::new(&rules)
    }

    fn spec(edit: impl FnOnce(&mut Value)) -> GroupSpec {
        let mut spec = json!({"kafka": {}, "topics": [{"name": "trading.orders"}]});
        edit(&mut spec);
        serde_json::from_value(spec).unwrap()
    }

    fn allowed(rules: &Rules, namespace: &str, spec: &GroupSpec) -> bool {
        rules.refuse(namespace, &BTreeMap::new(), spec).is_empty()
    }

    #[test]
    fn without_a_rule_nothing_is_allowed() {
        let spec = spec(|_| {});
        let said = Rules::default().refuse("trading", &BTreeMap::new(), &spec);
        assert_eq!(
            said,
            ["the namespace trading may not manage trading.orders"]
        );
        // A rule for another namespace, or one that says nothing of topics, is none.
        let (other, _) = rules(json!([
            {"namespaces": {"names": ["other"]}, "manage": [{"prefix": ""}]},
            {"namespaces": {"names": ["trading"]}},
            {"namespaces": {}, "manage": [{"prefix": "t"}]},
        ]));
        assert!(!allowed(&other, "trading", &spec));
    }

    #[test]
    fn topics_are_named_exactly_by_prefix_or_by_pattern() {
        for (names, topic, fits) in [
            (json!({"name": "trading.orders"}), "trading.orders", true),
            (json!({"name": "trading.orders"}), "trading.orders2", false),
            (json!({"prefix": "trading."}), "trading.orders", true),
            (json!({"prefix": "trading."}), "tradingXorders", false),
            (
                json!({"pattern": "trading\\.[a-z]+"}),
                "trading.orders",
                true,
            ),
            (
                json!({"pattern": "trading\\.[a-z]+"}),
                "trading.orders1",
                false,
            ),
            // The whole name, also with an alternative.
            (json!({"pattern": "a|trading"}), "trading.orders", false),
            (json!({"pattern": "orders|b"}), "trading.orders", false),
        ] {
            let (rules, problems) =
                rules(json!([{"namespaces": {"names": ["n"]}, "manage": [names]}]));
            assert_eq!(problems, Vec::<String>::new());
            let spec = spec(|spec| spec["topics"][0]["name"] = json!(topic));
            assert_eq!(allowed(&rules, "n", &spec), fits, "{names} {topic}");
        }
    }

    #[test]
    fn each_use_has_its_own_rule() {
        let (manage, _) =
            rules(json!([{"namespaces": {"names": ["n"]}, "manage": [{"prefix": "t"}]}]));
        let (reference, _) =
            rules(json!([{"namespaces": {"names": ["n"]}, "reference": [{"prefix": "t"}]}]));
        let managed = spec(|_| {});
        let referenced = spec(|spec| spec["topics"][0]["management"] = json!("Referenced"));
        let observed = spec(|spec| spec["mode"] = json!("Observe"));
        assert!(allowed(&manage, "n", &managed));
        assert!(!allowed(&reference, "n", &managed));
        for looking in [&referenced, &observed] {
            assert!(allowed(&manage, "n", looking));
            assert!(allowed(&reference, "n", looking));
        }
        let verified = spec(|spec| spec["verification"] = json!({}));
        let said = manage.refuse("n", &BTreeMap::new(), &verified);
        assert_eq!(said, ["the namespace n may not sample trading.orders"]);
        let (both, _) = rules(json!([
            {"namespaces": {"names": ["n"]}, "manage": [{"prefix": "t"}]},
            {"namespaces": {"names": ["n"]}, "sample": [{"prefix": "t"}]},
        ]));
        assert!(allowed(&both, "n", &verified));
    }

    #[test]
    fn namespaces_are_named_or_labelled() {
        let (rules, _) = rules(json!([{
            "namespaces": {"names": ["n"], "selector": {"matchLabels": {"team": "trading"}}},
            "manage": [{"prefix": "t"}],
        }]));
        assert!(rules.need_labels());
        let spec = spec(|_| {});
        let labels = |team: &str| BTreeMap::from([("team".to_owned(), team.to_owned())]);
        assert!(allowed(&rules, "n", &spec));
        assert!(rules.refuse("x", &labels("trading"), &spec).is_empty());
        assert_eq!(rules.refuse("x", &labels("other"), &spec).len(), 1);
    }

    #[test]
    fn consumer_groups_are_named_or_prefixed() {
        let (rules, _) = rules(json!([{
            "namespaces": {"names": ["n"]},
            "manage": [{"prefix": "t"}],
            "consumerGroups": [{"groupId": "app"}, {"prefix": "trading-"}],
        }]));
        for (asked, fits) in [
            (json!({"groupId": "app"}), true),
            (json!({"groupId": "app2"}), false),
            (json!({"groupId": "trading-x"}), true),
            (json!({"prefix": "trading-eu-"}), true),
            (json!({"prefix": "trading"}), false),
            (json!({"prefix": "app"}), false),
        ] {
            let spec = spec(|spec| spec["consumerGroups"] = json!([asked]));
            assert_eq!(allowed(&rules, "n", &spec), fits, "{asked}");
        }
    }

    #[test]
    fn what_cannot_be_used_allows_nothing_and_is_named() {
        let (rules, problems) = rules(json!([{
            "namespaces": {"names": ["n"], "selector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
            "manage": [{"pattern": "("}, {"pattern": "(a{1000}){1000}"}, {}],
        }]));
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(
            problems[0].starts_with("rules[0].manage: the pattern \"(\""),
            "{problems:?}"
        );
        assert!(!allowed(&rules, "n", &spec(|_| {})));
    }

    #[test]
    fn a_rule_guards_what_it_lets_its_own_namespaces_refer_to() {
        let (rules, problems) = rules(json!([
            {"namespaces": {"names": ["a"]}, "reference": [{"prefix": "pay"}], "manage": [{"name": "own"}], "referenceGuard": "Deny"},
            {"namespaces": {"names": ["a", "b"]}, "reference": [{"pattern": ".*"}], "referenceGuard": "Warn"},
        ]));
        assert_eq!(problems, [""; 0]);
        let guard = |namespace, topic| rules.guard(namespace, &BTreeMap::new(), topic);
        assert!(guard("a", "payments"));
        assert!(!guard("a", "orders"), "another rule lets it, and warns");
        assert!(!guard("a", "own"), "to manage is not to refer");
        assert!(!guard("b", "payments"), "the rule is not about it");
    }
}
