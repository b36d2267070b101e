//! A sleep.
//!
//! | when | then |
//! | --- | --- |
//! | its turn comes, the wait is given | `SleepStarted` |
//! | its turn comes, the wait is computed | the function is called; its answer gives `SleepStarted` |
//! | the clock is set back | a wait for a length of time moves with it, one until a moment stays |
//! | the moment comes | `SleepEnded`, and it counts as ended |

use serde::Deserialize;

use super::{Machine, MachineTask};
use crate::event::{CallRole, DueCall, EventCause, EventKind, ExternalCause};
use crate::failure::{FailureRecord, code};
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::plan::{SleepLength, SleepNode};
use crate::value::Value;

/// What a function that computes a wait answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum SleepAnswer {
    ForMs(u64),
    UntilMs(i64),
}

/// When a sleep ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum SleepEnd {
    /// After so many milliseconds.
    After(u64),
    /// At a moment of the wall clock.
    At(Time),
}

impl Machine<'_> {
    pub(super) fn start_sleep(&mut self, path: &Path, sleep: &SleepNode, cause: Seq) {
        let end = match &sleep.wait {
            SleepLength::Computed(_) => {
                return self.begin_call(path, DueCall { role: CallRole::Wait, attempt: 1 }, cause);
            }
            SleepLength::ForMs(ms) => SleepEnd::After(*ms),
            SleepLength::UntilMs(at) => SleepEnd::At(Time(*at)),
        };
        if !self.hold(path, None, cause) {
            self.sleep_until(path, end, cause);
        }
    }

    pub(super) fn sleep_until(&mut self, path: &Path, end: SleepEnd, cause: Seq) {
        let (until, absolute) = match end {
            SleepEnd::After(ms) => (self.env.now.plus_ms(ms), false),
            SleepEnd::At(at) => (at, true),
        };
        let started = self.emit(EventKind::SleepStarted { node: path.clone(), until, absolute }, cause);
        // While the run is paused, or the engine stops, it ends like any timer that falls due meanwhile: afterwards.
        if until <= self.env.now && !self.holding() {
            self.end_sleep(path, EventCause::Event(started));
        }
    }

    /// When a computed sleep ends, or why its answer is none.
    pub(super) fn computed_wait(answer: &Value) -> Result<SleepEnd, FailureRecord> {
        match answer.decode() {
            Ok(SleepAnswer::ForMs(ms)) => Ok(SleepEnd::After(ms)),
            Ok(SleepAnswer::UntilMs(at)) => Ok(SleepEnd::At(Time(at))),
            Err(_) => Err(FailureRecord::new(
                code::NOT_JSON,
                r#"a computed sleep must answer {"forMs": milliseconds} or {"untilMs": milliseconds since 1970}"#,
            )),
        }
    }

    pub(super) fn sleep_is_over(&mut self, path: &Path) {
        self.end_sleep(path, EventCause::Outside(ExternalCause::Clock));
    }

    fn end_sleep(&mut self, path: &Path, cause: EventCause) {
        let ended = self.emit(EventKind::SleepEnded { node: path.clone() }, cause);
        self.todo.push_back(MachineTask::Ended(path.clone(), ended));
    }
}
