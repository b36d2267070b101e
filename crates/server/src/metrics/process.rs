//! What the system says of this process. Where it has no `/proc`, nothing.

use std::fs;

/// What the process has in memory, in bytes.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// When the process began, in seconds since 1970.
pub(super) fn started_at() -> Option<f64> {
    /// The unit of times in `/proc`: part of Linux' interface, whatever the kernel's own clock does.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name comes second, in parentheses, and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks: f64 = fields.split(' ').nth(19)?.parse().ok()?;
    let system = fs::read_to_string("/proc/stat").ok()?;
    let boot: f64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + ticks / TICKS_PER_SECOND)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn this_process_has_memory_and_began_a_moment_ago() {
        assert!(resident_bytes().unwrap() > 100_000);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let age = now - started_at().unwrap();
        assert!((-2.0..600.0).contains(&age), "{age} s old");
    }
}
