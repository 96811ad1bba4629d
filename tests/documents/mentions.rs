//! Commands within a sentence. They hold names that stand for others, so they are not run: that they could be is looked up
//! in what the programs say of themselves. No tests here.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser};

use super::Fault;
use super::blocks::line_at;
use super::bound::{Instead, without_variables};
use super::stage::Stage;

/// Whose words and flags are looked up; one that begins like another comes first.
const PROGRAMS: [&str; 4] = [
    "kubectl copartition",
    "kubectl",
    "copartition-operator",
    "helm",
];

/// What programs say of themselves, by the command that was asked.
#[derive(Default)]
pub(super) struct Helps(BTreeMap<String, Result<String, String>>);

/// What is wrong with the commands in the sentences of a document.
pub(super) fn check(
    stage: &Stage<'_>,
    helps: &mut Helps,
    file: &str,
    markdown: &str,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (event, range) in Parser::new_ext(markdown, Options::all()).into_offset_iter() {
        if let Event::Code(code) = event
            && let Err(wrong) = command(stage, helps, &code)
        {
            let line = line_at(markdown, range.start);
            faults.push(Fault::new(file, line, &code, &wrong));
        }
    }
    faults
}

fn command(stage: &Stage<'_>, helps: &mut Helps, code: &str) -> Result<(), String> {
    // Only the first one of several that are piped into each other.
    let code = code.split(" | ").next().unwrap_or_default();
    let bare = without_variables(code);
    if bare.starts_with("make ") {
        return Instead::Target.check(code, &stage.folder);
    }
    let named = |it: &&&str| bare == **it || bare.starts_with(&format!("{it} "));
    let Some(program) = PROGRAMS.iter().find(named) else {
        return Ok(());
    };
    let mut words = bare[program.len()..].split_whitespace();
    let mut verb = None;
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            flags.push(word.split('=').next().unwrap_or(word));
        } else if word == "-n" || word == "-f" {
            words.next().map_or(Ok(()), |value| there(stage, value))?;
        } else if verb.is_none() && !word.starts_with('-') {
            verb = Some(word);
        } else {
            there(stage, word)?;
        }
    }
    let Some(verb) = verb else {
        return Ok(());
    };
    let mut help = helps.of(stage, &format!("{program} {verb} --help"))?;
    if *program == "kubectl" {
        help += &helps.of(stage, "kubectl options")?;
    }
    let known = |flag: &str| {
        let mut found = help.match_indices(flag);
        found.any(|(at, _)| {
            !help[at + flag.len()..].starts_with(|it: char| it.is_alphanumeric() || it == '-')
        })
    };
    match flags.iter().find(|flag| !known(flag)) {
        Some(flag) => Err(format!("{program} {verb} has no {flag}")),
        None => Ok(()),
    }
}

/// A path into a folder of the repository leads somewhere.
fn there(stage: &Stage<'_>, word: &str) -> Result<(), String> {
    let folders = ["charts/", "crds/", "docs/", "examples/"];
    if folders.iter().any(|it| word.starts_with(it)) && !stage.folder.join(word).exists() {
        return Err(format!("there is no {word}"));
    }
    Ok(())
}

impl Helps {
    fn of(&mut self, stage: &Stage<'_>, command: &str) -> Result<String, String> {
        self.0
            .entry(command.to_owned())
            .or_insert_with(|| stage.run(command))
            .clone()
    }
}
