//! What the system says of this process. Where it has no `/proc`, nothing.

use std::fs;
use std::str::FromStr;

/// What the process has in memory, in bytes.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// The unit of times in `/proc`: part of Linux' interface, whatever the kernel's own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// When the process began, in seconds since 1970.
pub(super) fn started_at() -> Option<f64> {
    let ticks: f64 = stat(19)?;
    let system = fs::read_to_string("/proc/stat").ok()?;
    let boot: f64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + ticks / TICKS_PER_SECOND)
}

/// How many seconds of CPU time it has used, its own and the system's for it.
pub(super) fn cpu_seconds() -> Option<f64> {
    let (own, system): (f64, f64) = (stat(11)?, stat(12)?);
    Some((own + system) / TICKS_PER_SECOND)
}

/// A field of the process's line, counted from the one after its name. The name is in parentheses, and may hold anything.
fn stat<T: FromStr>(field: usize) -> Option<T> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(field)?.parse().ok()
}

/// How many file handles it has open. The one that reads them is not counted.
pub(super) fn open_files() -> Option<usize> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}

/// How many file handles it may have; `None` too if there is no limit.
pub(super) fn open_files_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
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

    #[test]
    fn handles_are_counted_while_they_are_open() {
        let before = open_files().unwrap();
        let file = fs::File::open("/proc/self/stat").unwrap();
        assert_eq!(open_files().unwrap(), before + 1);
        drop(file);
        assert!(open_files_max().unwrap() >= before as u64);
    }

    #[test]
    fn work_uses_cpu_time() {
        let before = cpu_seconds().unwrap();
        let mut sum = 0_u64;
        while cpu_seconds().unwrap() <= before {
            (0..100_000).for_each(|n| sum = std::hint::black_box(sum.wrapping_add(n)));
        }
    }
}
