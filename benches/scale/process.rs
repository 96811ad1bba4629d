//! What the kernel says of a process.

use std::fs;

/// USER_HZ: what /proc counts CPU time in. It is 100 on every architecture that Linux has today.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process by its pid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pid(pub(crate) u32);

impl Pid {
    /// CPU time of all threads so far, in user and in kernel mode.
    pub(crate) fn cpu_seconds(self) -> f64 {
        let stat = self.read("stat");
        // The second field is the name in parentheses, which may hold anything; utime and stime are fields 14 and 15.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks: u32 = after_name
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|field| field.parse::<u32>().unwrap_or(0))
            .sum();
        f64::from(ticks) / TICKS_PER_SECOND
    }

    /// Resident memory now, in MiB.
    pub(crate) fn resident(self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most that was ever resident, in MiB.
    pub(crate) fn peak(self) -> f64 {
        self.status("VmHWM:")
    }

    /// Whether it runs. One that has ended and that nobody has waited for yet is still listed.
    pub(crate) fn runs(self) -> bool {
        fs::read_to_string(format!("/proc/{}/stat", self.0)).is_ok_and(|stat| {
            let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim());
            !state.starts_with(['Z', 'X'])
        })
    }

    fn status(self, field: &str) -> f64 {
        let status = self.read("status");
        let kib: u32 = status
            .lines()
            .find_map(|line| line.strip_prefix(field))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or_else(|| panic!("no {field} of process {}", self.0));
        f64::from(kib) / 1024.0
    }

    fn read(self, file: &str) -> String {
        let path = format!("/proc/{}/{file}", self.0);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
    }
}
