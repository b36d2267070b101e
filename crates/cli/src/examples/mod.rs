//! Workflows to try things with: `rival dev` offers them. Together they have every kind of node.

mod approval;
mod fan_out;
mod flaky;
mod nightly;
mod onboarding;
pub(crate) mod order;
mod saga;

use std::path::Path;
use std::time::Duration;

use rival::{BuildErrors, EngineBuilder};

/// How long a tenth of a second of work takes; tests make it short.
pub(crate) const PACE: Duration = Duration::from_millis(100);

/// Adds all of them to an engine on this store.
pub(crate) fn add(
    builder: EngineBuilder,
    store: &Path,
    pace: Duration,
) -> Result<EngineBuilder, BuildErrors> {
    let shop = order::Shop { ledger: store.with_file_name("ledger.txt"), pace };
    Ok(builder
        .provide(shop)
        .workflow(order::workflow(pace)?)
        .workflow(approval::workflow()?)
        .workflow(fan_out::workflow()?)
        .workflow(fan_out::page()?)
        .workflow(flaky::workflow(pace)?)
        .workflow(nightly::workflow(pace)?)
        .workflow(onboarding::workflow()?)
        .workflow(saga::workflow()?))
}
