//! The command: `rival-sim 12345`, `rival-sim 1..100000`, with `--every`, `--sqlite` or `--unmodelled` before it.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::ops::Range;
use std::process::ExitCode;

use rival_sim::campaign::{CampaignMode, campaign};
use rival_sim::count::TrialCounters;

fn main() -> ExitCode {
    let mut mode = CampaignMode::Chance;
    let mut seeds = None;
    for argument in std::env::args().skip(1) {
        let chosen = [CampaignMode::Every, CampaignMode::Sqlite, CampaignMode::Unmodelled]
            .into_iter()
            .find(|mode| mode.option() == Some(&argument));
        match (chosen, range(&argument)) {
            (Some(chosen), _) => mode = chosen,
            (None, Some(range)) => seeds = Some(range),
            (None, None) => return usage(),
        }
    }
    let Some(seeds) = seeds else { return usage() };
    let (counters, reports) = on_all_cores(mode, seeds);
    for report in &reports {
        println!("{report}");
    }
    println!("{counters}");
    if counters.divergences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    println!("usage: rival-sim [--every | --sqlite | --unmodelled] <seed> | <first>..<end>");
    ExitCode::FAILURE
}

fn range(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
        None => {
            let seed: u64 = text.parse().ok()?;
            Some(seed..seed.checked_add(1)?)
        }
    }
}

/// Cuts the seeds into pieces; each core takes the next one.
fn on_all_cores(mode: CampaignMode, seeds: Range<u64>) -> (TrialCounters, Vec<String>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let piece = (seeds.end.saturating_sub(seeds.start) / (cores * 16)).max(1);
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let work = || {
        let (mut counters, mut reports) = (TrialCounters::default(), Vec::new());
        loop {
            let first = next.fetch_add(piece, std::sync::atomic::Ordering::Relaxed);
            if first >= seeds.end {
                return (counters, reports);
            }
            let (more, failed) = campaign(mode, first..(first + piece).min(seeds.end));
            counters.add(&more);
            reports.extend(failed);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let (mut counters, mut reports) = (TrialCounters::default(), Vec::new());
        for thread in threads {
            let (more, failed) = thread.join().expect("a campaign does not panic");
            counters.add(&more);
            reports.extend(failed);
        }
        reports.truncate(3);
        (counters, reports)
    })
}
