//! Whether `copartition::keys::clients` tells how it knows what clients do.

use copartition::keys::clients::{self as known, Evidence};

use super::clients;
use crate::env::Env;

/// What the table says was run and what does not run here: client, setting (or all), and why.
const ELSEWHERE: [(&str, Option<&str>, &str); 3] = [
    ("rust-rdkafka", None, "it is how librdkafka runs here"),
    (
        "ruby-kafka",
        Some("default"),
        "it would take a Ruby and its packages",
    ),
    (
        "kafka-node",
        Some("default"),
        "it looks at no key; its class would show nothing else",
    ),
];

/// The table says of a setting that the client was run where one runs here, and nowhere else.
pub(crate) fn the_table_of_clients_says_what_runs_here(_: &Env) {
    let mut wrong = Vec::new();
    for client in known::ALL {
        for setting in client.settings {
            let run = runs_here(client, setting) || ran_elsewhere(client, setting);
            if run != (setting.evidence == Evidence::Run) {
                wrong.push(format!(
                    "{} {:?} ({}): {:?}",
                    client.name, setting.names, setting.versions, setting.evidence
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn runs_here(client: &known::Client, setting: &known::Setting) -> bool {
    clients::ALL.iter().any(|here| {
        let (name, version) = here.known_as;
        let named = |own: &str| setting.names.contains(&own);
        name == client.name
            && setting.versions.contain(version)
            && here.settings.iter().any(|own| named(own.known_as()))
    })
}

fn ran_elsewhere(client: &known::Client, setting: &known::Setting) -> bool {
    ELSEWHERE.iter().any(|(name, which, _)| {
        let named = which.is_none_or(|own| setting.names.contains(&own));
        *name == client.name && named
    })
}
