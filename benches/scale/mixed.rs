//! Many groups, some of them in trouble: one bad group never stops another.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::apply;
use crate::board::Seen;
use crate::env::free_port;
use crate::groups::{self, Manifest};
use crate::settings::Size;
use crate::stage::Stage;
use crate::table::{Rows, count};

/// How many groups are in trouble of each kind, where there are groups enough.
const TROUBLED: usize = 20;
const KINDS: [Kind; 3] = [Kind::Invalid, Kind::Dead, Kind::Colliding];
/// A dead cluster is one only after several polls.
const TROUBLE_WITHIN: Duration = Duration::from_secs(180);

/// Which group is what. The last three kinds are spread over all, so that they are neither first nor last.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fine,
    /// It asks for what is not implemented, which only the operator refuses.
    Invalid,
    /// Nobody listens at its address.
    Dead,
    /// It lists a topic of the group before it: one of the two is the holder, whichever came first.
    Colliding,
}

pub(crate) fn measure(stage: &mut Stage, rows: &mut Rows) -> Result<(), String> {
    let kinds = kinds(stage.size.groups);
    let manifests = manifests(stage, &kinds);
    let named = |kind: Kind| -> Vec<String> {
        let of = kinds.iter().enumerate().filter(|(_, k)| **k == kind);
        of.map(|(n, _)| groups::name(n)).collect()
    };
    let (invalid, dead) = (named(Kind::Invalid), named(Kind::Dead));
    let pairs = pairs(&kinds);
    let pair_members: Vec<String> = pairs.iter().flatten().cloned().collect();
    let mut fine = named(Kind::Fine);
    fine.retain(|name| !pair_members.contains(name));

    let process = stage.process();
    let began = Instant::now();
    let deadline = apply::deadline(stage.size.groups);
    let (ready, troubled) = stage.runtime.block_on(async {
        groups::apply(&stage.client, manifests).await?;
        let ready = stage
            .wait("all other groups to be Ready", &fine, deadline, Seen::ready)
            .await?;
        let refused = |seen: &Seen| seen.since("Accepted", "False", "InvalidSpec");
        let unreachable = |seen: &Seen| seen.since("KafkaReachable", "False", "Unreachable");
        let decided = |seen: &Seen| {
            seen.ready()
                .or_else(|| seen.since("Accepted", "False", "TopicConflict"))
        };
        let troubled = [
            stage
                .wait("InvalidSpec", &invalid, TROUBLE_WITHIN, refused)
                .await?,
            stage
                .wait("Unreachable", &dead, TROUBLE_WITHIN, unreachable)
                .await?,
            stage
                .wait(
                    "a holder or TopicConflict",
                    &pair_members,
                    TROUBLE_WITHIN,
                    decided,
                )
                .await?,
        ];
        Ok::<_, String>((ready, troubled))
    })?;
    let cpu = process.cpu_seconds();
    // What holds now has to hold later as well.
    stage.wait_polls(2);
    let ready_now = stage.board.count(&fine, Seen::ready);
    if ready_now != fine.len() {
        return Err(format!("{ready_now} of {} groups stayed Ready", fine.len()));
    }
    for pair in &pairs {
        let holders = stage.board.count(pair, Seen::ready);
        if holders != 1 {
            return Err(format!("{holders} of {pair:?} hold their topics, not one"));
        }
    }

    let bad = invalid.len() + dead.len() + pairs.len();
    rows.add("groups Ready", count(fine.len() + pairs.len()), "");
    rows.add(
        "until all other groups are Ready",
        ready.max(troubled[2]).duration_since(began).as_secs_f64(),
        "s",
    );
    rows.add(
        &format!("until the {bad} in trouble say what is wrong"),
        troubled
            .into_iter()
            .max()
            .unwrap_or(began)
            .duration_since(began)
            .as_secs_f64(),
        "s",
    );
    rows.add("CPU time of the operator", cpu, "s");
    rows.add("most resident", process.peak(), "MiB");
    Ok(())
}

/// As the table says it.
pub(crate) fn setting(size: Size) -> String {
    let each = troubled(size.groups);
    format!(
        "{}, of them {each} invalid, {each} at a dead cluster, {each} colliding",
        size.setting()
    )
}

fn troubled(groups: usize) -> usize {
    TROUBLED.min(groups / 10)
}

fn kinds(groups: usize) -> Vec<Kind> {
    let troubled = troubled(groups);
    let mut kinds = vec![Kind::Fine; groups];
    let stride = groups / troubled.max(1);
    for n in 0..troubled {
        for (offset, kind) in KINDS.into_iter().enumerate() {
            // The group before a colliding one is fine: it is the other half of the pair.
            kinds[n * stride + offset * 2] = kind;
        }
    }
    kinds
}

/// Each colliding group with the one whose topic it lists.
fn pairs(kinds: &[Kind]) -> Vec<[String; 2]> {
    let colliding = kinds.iter().enumerate();
    colliding
        .filter(|(_, kind)| **kind == Kind::Colliding)
        .map(|(n, _)| [groups::name(n - 1), groups::name(n)])
        .collect()
}

fn manifests(stage: &Stage, kinds: &[Kind]) -> Vec<Manifest> {
    let alive = stage.kafka().bootstrap();
    let nobody = format!("127.0.0.1:{}", free_port());
    let of = |(n, kind): (usize, &Kind)| {
        let bootstrap = if *kind == Kind::Dead { &nobody } else { &alive };
        let mut manifest = groups::manifest(n, bootstrap, stage.size.partitions);
        match kind {
            Kind::Fine | Kind::Dead => {}
            Kind::Invalid => manifest.spec["verification"] = json!({}),
            Kind::Colliding => {
                let [_, theirs] = groups::topics(n - 1);
                manifest.spec["topics"][1]["name"] = json!(theirs);
            }
        }
        manifest
    };
    kinds.iter().enumerate().map(of).collect()
}
