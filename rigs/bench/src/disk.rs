//! What the machine and its disk can do, and what this process uses of them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The median time of a 4 KiB append and fdatasync.
pub(crate) fn fdatasync_p50(dir: &Path) -> Result<Duration> {
    let mut file = File::create(dir.join("fdatasync.probe"))?;
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(percentile(&mut times, 50))
}

/// The value below which `percent` of the values lie.
pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Memory that this process holds, in bytes.
pub(crate) fn resident_bytes() -> Result<u64> {
    status_kib("self", "VmRSS:").map(|kib| kib * 1024)
}

/// The most memory that this process has held, in bytes.
pub(crate) fn peak_bytes() -> Result<u64> {
    peak_bytes_of("self")
}

/// The same of another process.
pub(crate) fn peak_bytes_of(process: &str) -> Result<u64> {
    status_kib(process, "VmHWM:").map(|kib| kib * 1024)
}

/// Takes as many file handles as the system allows to take.
pub(crate) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where that is not allowed, a client will say that it cannot connect.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Forgets the peak so far.
pub(crate) fn reset_peak() {
    // Where the kernel does not allow it, the peak is that of the whole process: larger, never smaller.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status_kib(process: &str, key: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .context("no such line in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// CPU time that this process has used, on all threads.
#[expect(unsafe_code, reason = "getrusage has no safe wrapper in std")]
pub(crate) fn cpu_time() -> Result<Duration> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a value of the right type that lives for the whole call; zeroed bytes are a valid
    // `rusage`, so it is initialised whether the call writes it or not.
    let (answer, usage) =
        unsafe { (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), usage.assume_init()) };
    anyhow::ensure!(answer == 0, "getrusage failed");
    Ok(time(usage.ru_utime) + time(usage.ru_stime))
}

fn time(value: libc::timeval) -> Duration {
    Duration::new(value.tv_sec.unsigned_abs(), u32::try_from(value.tv_usec).unwrap_or(0) * 1_000)
}

/// Bytes in a file and its write-ahead log.
pub(crate) fn file_bytes(path: &Path) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    size(path) + size(&path.with_extension("db-wal"))
}
