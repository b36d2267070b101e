//! How long to wait before the next attempt.

use crate::failure::StepError;
use crate::ids::RunId;
use crate::path::Path;
use crate::plan::{BackoffKind, RetryPolicy};

const BACKOFF_BASE_MS: u64 = 1_000;
const BACKOFF_MAX_MS: u64 = 300_000;

/// The delay after failed attempt `n`. The error's own wish wins over the step's setting.
pub(super) fn delay_ms(
    retry: &RetryPolicy,
    error: Option<&StepError>,
    n: u32,
    run: &RunId,
    node: &Path,
) -> u64 {
    let kind = error.and_then(|error| error.backoff).or(retry.backoff).unwrap_or_default();
    let base = error.and_then(|error| error.backoff_ms).or(retry.backoff_ms).unwrap_or(BACKOFF_BASE_MS);
    let factor = match kind {
        BackoffKind::Linear => u64::from(n),
        BackoffKind::Exponential => 2_u64.saturating_pow(n.saturating_sub(1)),
    };
    let delay = base.saturating_mul(factor).min(BACKOFF_MAX_MS);
    if retry.jitter { delay - jitter(delay / 2, run, node, n) } else { delay }
}

/// A number up to `most` that depends only on which attempt of which run this is: spread over runs, yet
/// the same each time the history is decided again.
fn jitter(most: u64, run: &RunId, node: &Path, n: u32) -> u64 {
    let bytes = run.as_str().bytes().chain(node.as_str().bytes()).chain(n.to_le_bytes());
    // FNV-1a, then mixed: neighbouring attempts differ in the last bytes only.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 16) % (most + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(retry: &RetryPolicy, error: Option<&StepError>) -> Vec<u64> {
        (1..=4).map(|n| delay_ms(retry, error, n, &RunId::from("r"), &Path::from("a"))).collect()
    }

    #[test]
    fn linear_is_the_default_with_one_second() {
        assert_eq!(delays(&RetryPolicy::default(), None), [1_000, 2_000, 3_000, 4_000]);
    }

    #[test]
    fn exponential_doubles_up_to_five_minutes() {
        let retry = RetryPolicy {
            backoff: Some(BackoffKind::Exponential),
            backoff_ms: Some(100_000),
            ..RetryPolicy::default()
        };
        assert_eq!(delays(&retry, None), [100_000, 200_000, 300_000, 300_000]);
    }

    #[test]
    fn the_errors_own_backoff_wins() {
        let error =
            StepError::retry("busy").backoff(BackoffKind::Exponential, std::time::Duration::from_millis(10));
        assert_eq!(delays(&RetryPolicy::default(), Some(&error)), [10, 20, 40, 80]);
    }

    #[test]
    fn jitter_takes_up_to_half_and_is_repeatable() {
        let retry = RetryPolicy { jitter: true, ..RetryPolicy::default() };
        let first = delays(&retry, None);
        assert_eq!(first, delays(&retry, None));
        for (n, delay) in (1..).zip(&first) {
            assert!((500 * n..=1_000 * n).contains(delay), "{delay} for attempt {n}");
        }
        assert_ne!(first, [1_000, 2_000, 3_000, 4_000]);
    }
}
