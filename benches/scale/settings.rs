//! What to measure, from the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// The sizes of a complete run, in groups.
const SIZES: [usize; 4] = [100, 500, 1_000, 6_000];
/// The size of the mixed run of a complete one.
const MIXED: usize = 2_000;
/// Up to here a topic has 6 partitions, and above it one: a broker maps two files a partition, and the system bounds
/// them (vm.max_map_count).
const LARGEST_WITH_SIX: usize = 1_000;
/// Up to here the growth from 6 to 8 is measured.
const LARGEST_TO_GROW: usize = 500;

/// The numbers of claims beside which admission is measured in a complete run.
const CLAIMS: [usize; 2] = [1_000, 6_000];

/// Measures the operator on a real Kafka and a real Kubernetes API server. Without `--groups`, `--mixed` and `--admission`: all.
#[derive(Debug, Parser)]
pub(crate) struct Settings {
    /// The sizes in groups of two topics, comma-separated [default of a complete run: 100,500,1000,6000]
    #[arg(long, value_delimiter = ',')]
    groups: Vec<usize>,
    /// The size of the run in which some groups are in trouble [default of a complete run: 2000]
    #[arg(long)]
    mixed: Option<usize>,
    /// The numbers of claims beside which admission is measured, comma-separated [default of a complete run: 1000,6000]
    #[arg(long, value_delimiter = ',')]
    admission: Vec<usize>,
    /// How long the steady state is watched, in seconds
    #[arg(long, default_value_t = 300)]
    steady: u64,
    /// How many times drift is made while all else is idle, and again while groups change
    #[arg(long, default_value_t = 40)]
    pub(crate) samples: usize,
    /// Where benchmarks.md and benchmarks.json are read and written
    #[arg(long, default_value = "docs")]
    pub(crate) out: PathBuf,
    /// A folder in memory for the brokers' data; if there is none of that name, it lies on disk
    #[arg(long, default_value = "/dev/shm")]
    pub(crate) data: PathBuf,
    /// Cargo gives this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// One size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) groups: usize,
    pub(crate) partitions: usize,
}

impl Settings {
    pub(crate) fn sizes(&self) -> Vec<Size> {
        let all = self.is_all();
        let groups = if all { &SIZES[..] } else { &self.groups };
        groups.iter().copied().map(Size::of).collect()
    }

    pub(crate) fn mixed(&self) -> Option<Size> {
        let all = self.is_all();
        let groups = self.mixed.or(all.then_some(MIXED))?;
        Some(Size {
            groups,
            partitions: 1,
        })
    }

    /// Numbers of claims.
    pub(crate) fn admission(&self) -> Vec<usize> {
        if self.is_all() {
            CLAIMS.to_vec()
        } else {
            self.admission.clone()
        }
    }

    fn is_all(&self) -> bool {
        self.groups.is_empty() && self.mixed.is_none() && self.admission.is_empty()
    }

    pub(crate) fn steady(&self) -> Duration {
        Duration::from_secs(self.steady)
    }
}

impl Size {
    fn of(groups: usize) -> Self {
        let partitions = if groups <= LARGEST_WITH_SIX { 6 } else { 1 };
        Self { groups, partitions }
    }

    pub(crate) fn topics(self) -> usize {
        self.groups * 2
    }

    /// The count that topics grow to, where growth is measured.
    pub(crate) fn grown(self) -> Option<usize> {
        (self.partitions == 6 && self.groups <= LARGEST_TO_GROW).then_some(8)
    }

    /// As the table says it.
    pub(crate) fn setting(self) -> String {
        format!(
            "{} groups x 2 topics x {}",
            thousands(self.groups),
            self.partitions
        )
    }
}

/// With a comma every three digits.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
