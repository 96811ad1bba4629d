//! TCP ports for servers that the tests start.

use std::fs;
use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports handed out, relative to `LOWEST`. Starts at a place of this process's own, so that two runs seldom meet.
static NEXT: AtomicU32 = AtomicU32::new(u32::MAX);

const LOWEST: u32 = 15_000;

/// A port on loopback that nobody listens on.
///
/// Not from the range out of which the kernel serves outgoing connections: a server that is killed and started again
/// must find its port free, and in that range any client's connection could have taken it meanwhile.
///
/// # Panics
/// When no port is free.
pub(crate) fn free_port() -> u16 {
    let count = ephemeral_start() - LOWEST;
    let _ = NEXT.compare_exchange(
        u32::MAX,
        process::id().wrapping_mul(61) % count,
        Ordering::Relaxed,
        Ordering::Relaxed,
    );
    (0..count)
        .filter_map(|_| u16::try_from(LOWEST + NEXT.fetch_add(1, Ordering::Relaxed) % count).ok())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("no free TCP port on 127.0.0.1")
}

fn ephemeral_start() -> u32 {
    fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()
        .and_then(|range| range.split_whitespace().next()?.parse().ok())
        .filter(|start| *start > LOWEST + 1_000)
        .unwrap_or(32_768)
}
