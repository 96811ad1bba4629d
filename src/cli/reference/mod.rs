//! The pages of `docs/reference`: what the types, the vocabulary and the command lines say, as Markdown.

mod commands;
mod resources;
mod schemes;

use std::fmt::Write as _;
use std::path::Path;

use crate::plan::{conditions_table, exit_table};

/// One page.
struct Page {
    file: &'static str,
    title: String,
    /// What it is about, in the index and below the title.
    about: &'static str,
    text: String,
}

/// The pages in the order of the index.
fn pages() -> Result<Vec<Page>, serde_json::Error> {
    let mut pages = resources::pages()?;
    pages.push(Page {
        file: "conditions.md",
        title: "Conditions and exit codes".to_owned(),
        about: "What a group's conditions can say, what kstatus makes of it, and what `copartition-operator reconcile` exits with.",
        text: conditions(),
    });
    pages.push(Page {
        file: "key-schemes.md",
        title: "Encodings, partitioners and clients".to_owned(),
        about: "What may stand in `keyScheme` and `producers`, and what each client does with keys.",
        text: schemes::text(),
    });
    pages.push(Page {
        file: "command-line.md",
        title: "Command lines".to_owned(),
        about: "Each command and option of `copartition-operator` and of `kubectl copartition`.",
        text: commands::text(),
    });
    Ok(pages)
}

fn conditions() -> String {
    format!(
        "`Ready` is True when `Accepted`, `PartitionsAligned` and `KeySchemesAligned` hold (an undeclared scheme counts as fine); it is False if one \
         is False, else Unknown if one is Unknown, and carries that one's reason. A Kafka outage alone does not flip it. `Reconciling` and `Stalled` \
         are the pair that [kstatus](https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus) reads: exactly one of them is True while \
         Ready is not. A group that no operator has seen has Ready=Unknown with reason Pending. Each condition carries `observedGeneration`.\n\n\
         [runbooks.md](../runbooks.md) says what to do about each reason.\n\n\
         {}\n## Exit codes of `copartition-operator reconcile`\n\n\
         The worst of all groups counts: 1 before 2 before 0. Unlike Ready it counts TopicConfigsApplied too. \
         GrowthIncomplete is 2 while the pause annotation is set. \
         Wrong usage, and files that cannot be read, are 1.\n\n{}",
        conditions_table(),
        exit_table()
    )
}

/// Every file of the folder, by name.
fn files() -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let pages = pages()?;
    let mut index = String::from(
        "# Reference\n\nGenerated from the code by `make generate`.\n\n| page | |\n|---|---|\n",
    );
    // Writing to a String cannot fail.
    for page in &pages {
        let _ = writeln!(
            index,
            "| [{}]({}) | {} |",
            page.title, page.file, page.about
        );
    }
    index.push_str("| [Metrics](metrics.md) | What `/metrics` shows; a test holds it to the page of a running operator. |\n");
    let pages = pages.into_iter().map(|page| {
        let head = format!(
            "# {}\n\nGenerated from the code by `make generate`. ",
            page.title
        );
        (page.file, format!("{head}{}\n\n{}", page.about, page.text))
    });
    Ok([("README.md", index)].into_iter().chain(pages).collect())
}

/// Writes the pages into a folder.
pub(super) fn write(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    for (file, text) in files()? {
        std::fs::write(folder.join(file), text)
            .map_err(|error| format!("writing {file} into {}: {error}", folder.display()))?;
    }
    Ok(())
}

/// The anchor that Markdown's renderers give to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The anchors of a page's headings.
#[cfg(test)]
pub(crate) fn anchors(page: &str) -> std::collections::BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

/// A text in a cell of a table: on one line, and nothing in it taken for a column or for HTML.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_say_what_the_code_says() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
        for (file, text) in files().expect("pages") {
            let there = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
            assert!(
                there == text,
                "docs/reference/{file} differs from the code: run 'make generate'"
            );
        }
    }

    #[test]
    fn a_cell_stays_one() {
        assert_eq!(cell("a | b\n  <NAME>"), "a \\| b &lt;NAME>");
    }
}
