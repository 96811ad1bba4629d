//! Commands of a document, run in one shell, each with its own exit code and output. No tests here.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Fault;
use super::blocks::{Line, difference, ends_with};
use super::bound::{ENDS, LASTS, NOT_RUN};
use super::stage::Stage;
use crate::env::process::Process;
use crate::env::{unique, wait_for};

const DEADLINE: Duration = Duration::from_secs(60);

/// What has to be seen of a command.
struct Wanted<'a> {
    line: &'a Line,
    command: String,
    codes: Vec<i32>,
}

/// Runs the commands of one block of a document.
pub(super) fn run(stage: &mut Stage<'_>, file: &str, lines: &[Line]) -> Vec<Fault> {
    let folder = stage.folder_of(file);
    let mut faults = Vec::new();
    let mut together = Vec::new();
    for line in lines {
        let command = stage.bind(&line.command);
        if let Some((_, _, instead)) = stage.used.find(NOT_RUN, |it| it.0, &command) {
            if let Err(wrong) = instead.check(&command, &folder) {
                faults.push(Fault::new(file, line.at, &command, &wrong));
            }
        } else if let Some((_, said)) = stage.used.find(LASTS, |it| it.0, &command) {
            // What comes before it in the block comes before it here, too.
            faults.extend(at_once(stage, file, &folder, &together));
            together.clear();
            faults.extend(lasts(stage, &folder, file, line.at, &command, said));
        } else {
            let told = ends_with(&command).map(|code| vec![code]);
            let codes = told.unwrap_or_else(|| {
                let entry = stage.used.find(ENDS, |it| it.0, &command);
                entry.map_or(vec![0], |it| it.1.to_vec())
            });
            together.push(Wanted {
                line,
                command,
                codes,
            });
        }
    }
    faults.extend(at_once(stage, file, &folder, &together));
    faults
}

/// In one shell, so that a folder or a variable that one of them sets is there for the next.
fn at_once(stage: &Stage<'_>, file: &str, folder: &Path, all: &[Wanted<'_>]) -> Vec<Fault> {
    if all.is_empty() {
        return Vec::new();
    }
    let out = stage.folder.join(unique("outcome"));
    fs::create_dir(&out).expect("a folder for what commands print");
    let of = |at: usize, what: &str| out.join(format!("{at}.{what}"));
    let script: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let (printed, code) = (of(at, "out"), of(at, "code"));
            let (printed, code) = (printed.display(), code.display());
            let command = &one.command;
            format!("{{\n{command}\n}} < /dev/null > '{printed}' 2>&1\necho $? > '{code}'\n")
        })
        .collect();
    let script = format!("set -uo pipefail\n{}", script.concat());
    let output = stage.command(&script, folder).output();
    let output = output.expect("cannot run bash");
    let mut faults = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let read = |what: &str| fs::read_to_string(of(at, what)).unwrap_or_default();
        let printed = read("out");
        let code = read("code").trim().parse::<i32>().ok();
        let wrong = match code {
            Some(code) if one.codes.contains(&code) => difference(&one.line.shown, &printed),
            Some(code) => Some(format!("ends with {code} in place of {:?}", one.codes)),
            None => Some(format!(
                "does not end, or ends the shell ({})",
                output.status
            )),
        };
        if let Some(wrong) = wrong {
            let said = format!(
                "{wrong}\n{printed}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            faults.push(Fault::new(file, one.line.at, &one.command, &said));
        }
    }
    faults
}

/// Runs a command until it has printed what is expected of it, and stops it.
fn lasts(
    stage: &Stage<'_>,
    folder: &Path,
    file: &str,
    at: usize,
    command: &str,
    said: &str,
) -> Option<Fault> {
    let log = stage.folder.join(unique("lasting"));
    let mut process = Process::start(command, stage.lasting(command, folder), &log);
    let seen = wait_for(&format!("{said:?} of {command}"), DEADLINE, || {
        if process.log().contains(said) {
            Ok(Ok(()))
        } else if let Some(status) = process.ended() {
            Ok(Err(format!("ends by itself ({status})")))
        } else {
            Err(process.log_tail())
        }
    });
    let seen = seen.and_then(|()| {
        process.signal("TERM");
        let status = process.wait(DEADLINE);
        let wrong = format!("ends with {status} when it is stopped");
        status.success().then_some(()).ok_or(wrong)
    });
    let wrong = seen.err()?;
    let said = format!("{wrong}\n{}", process.log_tail());
    Some(Fault::new(file, at, command, &said))
}
