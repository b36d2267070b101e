//! Every answer to the crowd, held against the histories.

use std::collections::{BTreeMap, HashMap};

use rival::{RunId, RunStatus};
use rival_core::event::EventKind;
use rival_engine::verify::{self, ExaminedRun, StoreInvariant, VerifyReport};
use rival_store::{RunFilter, Store};

use crate::TestFolder;
use crate::crowd::{CrowdRecord, CrowdReply, CrowdRequest};
use crate::ledger;
use crate::steps::Word;

/// What was found.
#[derive(Debug, Default)]
pub struct AnswerAudit {
    /// What the store alone tells, and every answer that is not true.
    pub report: VerifyReport,
    /// How often which request was answered how.
    pub answers: BTreeMap<String, u64>,
}

/// Judges a store on which no engine runs and all runs have ended, with what the crowd was told.
pub async fn audit_answers(store: &dyn Store, folder: &TestFolder) -> anyhow::Result<AnswerAudit> {
    let mut of_run: HashMap<RunId, Vec<CrowdRecord>> = HashMap::new();
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    for told in ledger::read::<CrowdRecord>(&folder.answers())? {
        *answers.entry(word(&told)).or_default() += 1;
        of_run.entry(told.run.clone()).or_default().push(told);
    }
    let mut report = verify::check_runs(store, &RunFilter::default(), |run, report| {
        let story = Story::new(run);
        for told in of_run.remove(&run.row.id).unwrap_or_default() {
            if let Some(wrong) = story.contradiction(&told) {
                report.breach(&run.row.id, StoreInvariant::Acknowledged, format!("{wrong}: {told:?}"));
            }
        }
        for (nonce, times) in story.words.iter().filter(|(_, times)| times.len() > 1) {
            let message = format!("signal {nonce} is there {} times", times.len());
            report.breach(&run.row.id, StoreInvariant::Acknowledged, message);
        }
    })
    .await?;
    missing(&of_run, &mut report);
    Ok(AnswerAudit { report, answers })
}

fn missing(of_run: &HashMap<RunId, Vec<CrowdRecord>>, report: &mut VerifyReport) {
    for run in of_run.keys() {
        report.breach(run, StoreInvariant::Acknowledged, "a client was told of it, and it is not there");
    }
}

fn word(told: &CrowdRecord) -> String {
    let what = match told.what {
        CrowdRequest::Signal { .. } => "signal",
        CrowdRequest::Contradiction { .. } => "contradiction",
        CrowdRequest::Cancel { .. } => "cancel",
        CrowdRequest::Kill { .. } => "kill",
        CrowdRequest::Pause {} => "pause",
        CrowdRequest::Resume {} => "resume",
    };
    match &told.reply {
        CrowdReply::Yes { .. } => format!("{what}: yes"),
        CrowdReply::No { code, .. } => format!("{what}: {code}"),
        CrowdReply::Unknown {} => format!("{what}: not answered"),
    }
}

/// What the history of a run says of requests.
struct Story {
    status: RunStatus,
    /// Words that came, with the ids of the signals.
    words: BTreeMap<u64, Vec<Option<String>>>,
    /// Reasons of cancels and kills that were acted on.
    stops: Vec<Option<String>>,
    is_failing: bool,
    was_paused: bool,
}

impl Story {
    fn new(run: &ExaminedRun) -> Self {
        let mut story = Self {
            status: run.row.status,
            words: BTreeMap::new(),
            stops: Vec::new(),
            is_failing: false,
            was_paused: false,
        };
        for event in &run.events {
            if let EventKind::SignalReceived { payload, id, .. } = &event.kind {
                let nonce = payload.decode::<Word>().map_or(0, |word| word.nonce);
                story.words.entry(nonce).or_default().push(id.clone());
            } else if let EventKind::CancelRequested { reason, .. } = &event.kind {
                story.stops.push(reason.clone());
            }
            story.is_failing |=
                matches!(event.kind, EventKind::RunFailing { .. } | EventKind::RunFailed { .. });
            story.was_paused |= matches!(event.kind, EventKind::RunPaused {});
        }
        story
    }

    fn stopped_for(&self, no: u64) -> bool {
        self.stops.iter().any(|reason| reason.as_deref() == Some(no.to_string().as_str()))
    }

    /// In which way an answer is not true.
    fn contradiction(&self, told: &CrowdRecord) -> Option<&'static str> {
        match &told.reply {
            CrowdReply::Yes { status, signal } => self.is_no_yes(&told.what, *status, signal.as_deref()),
            CrowdReply::No { code, error } => self.is_no_no(&told.what, code, error),
            CrowdReply::Unknown {} => None,
        }
    }

    fn is_no_yes(
        &self,
        what: &CrowdRequest,
        status: RunStatus,
        signal: Option<&str>,
    ) -> Option<&'static str> {
        let is_true = match what {
            CrowdRequest::Signal { nonce } => {
                self.words.get(nonce).is_some_and(|ids| ids.iter().any(|id| id.as_deref() == signal))
            }
            CrowdRequest::Contradiction { .. } => false,
            // It does nothing to a run that is failing, or is being cancelled by others.
            CrowdRequest::Cancel { .. } => self.is_failing || !self.stops.is_empty(),
            CrowdRequest::Kill { no } => {
                self.stopped_for(*no) || (self.status == RunStatus::Cancelled && !self.stops.is_empty())
            }
            CrowdRequest::Pause {} => status != RunStatus::Paused || self.was_paused,
            CrowdRequest::Resume {} => true,
        };
        (!is_true).then_some("the answer was yes, and nothing of it is there")
    }

    fn is_no_no(&self, what: &CrowdRequest, code: &str, error: &str) -> Option<&'static str> {
        let happened = match what {
            CrowdRequest::Signal { nonce } | CrowdRequest::Contradiction { nonce } => {
                self.words.contains_key(nonce)
            }
            CrowdRequest::Cancel { no } | CrowdRequest::Kill { no } => self.stopped_for(*no),
            CrowdRequest::Pause {} | CrowdRequest::Resume {} => false,
        };
        let right = match what {
            CrowdRequest::Contradiction { .. } => code == "signal_conflict",
            _ => code == "run_finished" && error.ends_with(&self.status.to_string()),
        };
        if happened {
            Some("the answer was no, and it happened")
        } else {
            (!right).then_some("the reason is not true")
        }
    }
}
