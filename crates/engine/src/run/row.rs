//! The row of a run, made from its state.

use rival_core::state::RunState;
use rival_store::{RowUpdate, RunHold};

/// The row of a run in this state: as `hold` says, unless the run has ended.
pub(crate) fn row_update(state: &RunState, hold: RunHold, note: Option<String>) -> RowUpdate {
    let ended_at = state.end.as_ref().map_or(state.at, |end| end.at);
    RowUpdate::new(state.status(), hold, ended_at, note)
}
