//! The command lines, from clap's own definitions.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use super::cell;
use crate::cli::{Cli, plugin};

/// Both binaries, each command with its options.
pub(super) fn text() -> String {
    let mut page = String::new();
    for command in [Cli::command(), plugin::command()] {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let name = name.to_owned();
        about(&mut page, "##", &name, &command);
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let name = format!("{name} {}", command.get_name());
            about(&mut page, "###", &name, command);
            options(&mut page, command);
        }
    }
    page
}

fn about(page: &mut String, depth: &str, name: &str, command: &Command) {
    let said = command.get_about().map(ToString::to_string);
    let said = said.unwrap_or_default();
    // Writing to a String cannot fail, here and below.
    let _ = write!(page, "{depth} {name}\n\n{}\n\n", sentence(&said));
}

fn options(page: &mut String, command: &Command) {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|it| !it.is_hide_set() && it.get_id() != "help")
        .collect();
    if shown.is_empty() {
        return;
    }
    page.push_str("| option | default | |\n|---|---|---|\n");
    for arg in shown {
        let _ = writeln!(
            page,
            "| {} | {} | {} |",
            names(arg),
            default(arg),
            help(arg)
        );
    }
    page.push('\n');
}

/// How it is written, and the variable of the environment that says the same.
fn names(arg: &Arg) -> String {
    // Of a switch it is empty.
    let values = arg.get_value_names().unwrap_or_default();
    let values = values.iter().filter(|_| arg.get_action().takes_values());
    let value: Vec<&str> = values.map(clap::builder::Str::as_str).collect();
    let value = value.join(" ");
    let mut names = Vec::new();
    if let Some(short) = arg.get_short() {
        names.push(format!("`-{short}`"));
    }
    match arg.get_long() {
        Some(long) if value.is_empty() => names.push(format!("`--{long}`")),
        Some(long) => names.push(format!("`--{long} {value}`")),
        None => names.push(format!("`{value}`")),
    }
    if let Some(variable) = arg.get_env() {
        names.push(format!("`{}`", variable.to_string_lossy()));
    }
    names.join(", ")
}

fn default(arg: &Arg) -> String {
    let values: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    // Of a switch it says nothing.
    if arg.get_action().takes_values() {
        values.join(", ")
    } else {
        String::new()
    }
}

fn help(arg: &Arg) -> String {
    let said = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = sentence(&said.map(ToString::to_string).unwrap_or_default());
    let words: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|word| !word.is_hide_set())
        .map(|word| format!("`{}`", word.get_name()))
        .collect();
    if arg.get_action().takes_values() && !words.is_empty() {
        let _ = write!(text, " One of {}.", words.join(", "));
    }
    text
}

/// Clap drops the full stop of short texts.
fn sentence(text: &str) -> String {
    let text = cell(text);
    if text.is_empty() || text.ends_with(['.', '`', ')']) {
        text
    } else {
        format!("{text}.")
    }
}
