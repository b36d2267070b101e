//! Which runs a request means: what lists and requests to many runs have in common.

use rival_core::plan::is_system_workflow;
use rival_store::{Page, RunFilter, RunRow};

use super::words::InputCondition;
use crate::app::AppState;
use crate::problem::HttpProblem;

/// How many runs are looked at for one page when their inputs have to be read.
const SCAN_MAX: usize = 2_000;

/// Whether runs of Rival's own workflows are left out: unless they are asked for.
pub(crate) fn leaves_out_system(asked: bool, workflow: Option<&str>) -> bool {
    !asked && !workflow.is_some_and(is_system_workflow)
}

/// The runs that match a filter, and whose inputs fulfil a condition.
pub(crate) struct RunSelection {
    pub(crate) filter: RunFilter,
    pub(crate) input: Option<InputCondition>,
}

/// Some of them, and where to read on, if there may be more.
pub(crate) struct SelectedRuns {
    pub(crate) rows: Vec<RunRow>,
    pub(crate) next: Option<i64>,
}

impl RunSelection {
    pub(crate) async fn page(
        &self,
        app: &AppState,
        before: Option<i64>,
        limit: usize,
    ) -> Result<SelectedRuns, HttpProblem> {
        let Some(condition) = &self.input else {
            let rows = app.engine.runs(&self.filter, &Page { before, limit }).await?;
            let next = rows.last().filter(|_| rows.len() == limit).map(|row| row.no);
            return Ok(SelectedRuns { rows, next });
        };
        let candidates = app.engine.runs(&self.filter, &Page { before, limit: SCAN_MAX }).await?;
        let next = candidates.last().filter(|_| candidates.len() == SCAN_MAX).map(|row| row.no);
        let mut rows = Vec::new();
        for row in candidates {
            // It may have been purged meanwhile.
            let Ok(input) = app.engine.input(&row.id).await else { continue };
            if condition.holds(&input.to_json()) {
                let no = row.no;
                rows.push(row);
                if rows.len() == limit {
                    return Ok(SelectedRuns { rows, next: Some(no) });
                }
            }
        }
        Ok(SelectedRuns { rows, next })
    }
}
