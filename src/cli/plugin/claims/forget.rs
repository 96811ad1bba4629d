//! Locks that nobody can undo are forgotten, and whoever does that is told what to remove by hand.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, IsTerminal, Write};

use super::super::live::{self, Place};
use super::super::terminal::{Io, print};
use super::record::{Holder, Lock, Record};

/// Runs, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(
    name: &str,
    record: &Record,
    yes: bool,
    place: &Place,
    io: &mut Io<'_>,
) -> Result<u8, String> {
    let claim = find(name, record)?;
    let gone = live::is_gone(&claim.namespace, &claim.group, place)?;
    let orphaned = stuck(claim, gone)?;
    print(io.stdout, |out| explain(out, claim, &orphaned))?;
    if !yes && !confirmed(io)? {
        return Err("nothing was forgotten".to_owned());
    }
    let clusters: BTreeSet<&str> = orphaned.iter().map(|it| it.cluster_id.as_str()).collect();
    let clusters = clusters.into_iter().collect::<Vec<_>>().join(",");
    live::forget_locks(&claim.claim, &clusters, place)?;
    print(io.stdout, |out| {
        writeln!(
            out,
            "the operator forgets them with its next look at the claim"
        )
    })?;
    Ok(0)
}

fn find<'a>(name: &str, record: &'a Record) -> Result<&'a Holder, String> {
    let Some((namespace, group)) = name.split_once('/') else {
        return Err(format!("--forget: wanted NAMESPACE/NAME, seen {name:?}"));
    };
    let mut claims = record.claims.iter();
    claims
        .find(|claim| claim.namespace == namespace && claim.group == group)
        .ok_or_else(|| {
            format!("there is no claim of a group {name}; `kubectl copartition claims` lists all")
        })
}

/// Only what nobody can undo: a lock that stands where the operator gets to would become somebody else's. Of a group that is
/// gone that may be any, as for lack of a right; the operator tries once more before it forgets.
fn stuck(claim: &Holder, gone: bool) -> Result<Vec<&Lock>, String> {
    if gone && !claim.locks.is_empty() {
        return Ok(claim.locks.iter().collect());
    }
    if claim.locks.iter().any(|lock| lock.orphaned.is_none()) {
        return Err(
            "which locks are orphaned is not known, since you may not list kafkaconnections"
                .to_owned(),
        );
    }
    let locks = claim.locks.iter();
    let orphaned: Vec<&Lock> = locks.filter(|lock| lock.orphaned == Some(true)).collect();
    if orphaned.is_empty() {
        return Err(format!(
            "{}/{} has no orphaned lock: the operator undoes its locks itself once they are not wanted",
            claim.namespace, claim.group
        ));
    }
    Ok(orphaned)
}

fn explain(out: &mut dyn Write, claim: &Holder, locks: &[&Lock]) -> std::io::Result<()> {
    writeln!(
        out,
        "The operator locked these topics for {}/{}, and does not get to undo it. Where their cluster still runs, nobody but super users can add \
         partitions until the ACLs are removed by hand:",
        claim.namespace, claim.group
    )?;
    for lock in locks {
        writeln!(
            out,
            "  kafka-acls.sh --bootstrap-server <brokers of {}> --remove --topic {} --deny-principal 'User:*' --operation Alter",
            lock.cluster_id, lock.topic
        )?;
    }
    Ok(())
}

fn confirmed(io: &mut Io<'_>) -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err("nothing was forgotten: nobody can be asked here, so give --yes".to_owned());
    }
    print(io.stdout, |out| write!(out, "Forget them? [y/N] "))?;
    let mut answer = String::new();
    let mut lines = BufReader::new(&mut *io.stdin);
    lines
        .read_line(&mut answer)
        .map_err(|error| format!("reading the answer: {error}"))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(orphaned: Option<bool>) -> Record {
        Record {
            claims: vec![Holder {
                claim: "trading.orders".to_owned(),
                namespace: "trading".to_owned(),
                group: "orders".to_owned(),
                installation: String::new(),
                cluster_id: None,
                recorded_partitions: None,
                holds: Vec::new(),
                references: Vec::new(),
                locks: vec![Lock {
                    topic: "orders".to_owned(),
                    cluster_id: "K1".to_owned(),
                    connection: None,
                    orphaned,
                }],
            }],
        }
    }

    #[test]
    fn only_orphaned_locks_of_a_claim_that_is_there_are_forgotten() {
        let record = claim(Some(true));
        let found = find("trading/orders", &record).expect("the claim");
        let locks = stuck(found, false).expect("one");
        let mut said = Vec::new();
        explain(&mut said, found, &locks).expect("memory");
        let said = String::from_utf8(said).expect("text");
        assert!(
            said.contains("--remove --topic orders --deny-principal 'User:*'"),
            "{said}"
        );
        for (name, part) in [
            ("orders", "NAMESPACE/NAME"),
            ("trading/x", "no claim of a group trading/x"),
        ] {
            let said = find(name, &record).expect_err(name);
            assert!(said.contains(part), "{said}");
        }
        for (known, part) in [
            (Some(false), "no orphaned lock"),
            (None, "kafkaconnections"),
        ] {
            let said = stuck(&claim(known).claims[0], false).expect_err(part);
            assert!(said.contains(part), "{said}");
            assert_eq!(
                stuck(&claim(known).claims[0], true).map(|it| it.len()),
                Ok(1)
            );
        }
    }
}
