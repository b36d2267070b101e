//! What clients that ask over HTTP were told.

use std::collections::{BTreeMap, HashMap};

use rival::{RunId, Value};
use rival_core::event::EventKind;
use rival_engine::verify::{ExaminedRun, StoreInvariant, VerifyReport};

use super::RunCase;
use crate::ledger::{ClientAck, LedgerFrame, SentStart};
use crate::steps::{Ticket, Word};

/// Starts that were asked for, and what came of each.
pub(super) struct StartLedger {
    sent: HashMap<u64, SentStart>,
    found: HashMap<u64, Vec<RunId>>,
}

impl StartLedger {
    pub(super) fn new(sent: Vec<SentStart>) -> Self {
        Self { sent: sent.into_iter().map(|sent| (sent.number, sent)).collect(), found: HashMap::new() }
    }

    /// A run that goes on from another was not asked for by a start.
    pub(super) fn look(&mut self, run: &ExaminedRun) {
        let input = run.events.first().and_then(|event| event.kind.value());
        let ticket = input.and_then(|input| input.decode::<Ticket>().ok());
        if let Some(ticket) = ticket.filter(|_| run.row.source.is_none()) {
            self.found.entry(ticket.number).or_default().push(run.row.id.clone());
        }
    }

    /// Each start that a client sent is there once, or not at all; and no run is there that no client asked for.
    pub(super) fn check(&self, report: &mut VerifyReport) {
        if self.sent.is_empty() {
            return;
        }
        for (number, runs) in &self.found {
            let asked = self.sent.get(number);
            let keyed = asked.and_then(|sent| sent.key.as_ref());
            let right = runs.len() == 1 && keyed.is_none_or(|key| *key == runs[0]);
            if asked.is_none() || !right {
                let message = format!("start {number} {asked:?} has the runs {runs:?}");
                report.breach(&runs[0], StoreInvariant::Identity, message);
            }
        }
    }
}

impl RunCase<'_> {
    /// A signal is in the history once if a client was told so, and at most once otherwise.
    pub(super) fn check_signals(&mut self, acks: &[ClientAck]) {
        let mut received: BTreeMap<u64, usize> = BTreeMap::new();
        for event in &self.run.events {
            if let EventKind::SignalReceived { payload, .. } = &event.kind {
                let nonce = payload.decode::<Word>().map_or(0, |word| word.nonce);
                *received.entry(nonce).or_default() += 1;
            }
        }
        for ack in acks {
            if let ClientAck::Signalled { nonce, .. } = ack {
                self.require(received.contains_key(nonce), StoreInvariant::Acknowledged, || {
                    format!("signal {nonce} was acknowledged and is not there")
                });
            }
        }
        for (nonce, count) in received {
            let sent =
                acks.iter().any(|ack| matches!(ack, ClientAck::Signalling { nonce: it, .. } if *it == nonce));
            self.require(sent && count == 1, StoreInvariant::Acknowledged, || {
                format!("signal {nonce} is there {count} times, sent: {sent}")
            });
        }
    }

    /// Each follower gets every event once, in order, whatever happens to the server.
    pub(super) fn check_streams(&mut self, acks: &[ClientAck]) {
        let mut heard: BTreeMap<u64, Vec<&LedgerFrame>> = BTreeMap::new();
        let mut ended = Vec::new();
        for ack in acks {
            match ack {
                ClientAck::Streamed { follower, frame, .. } => {
                    heard.entry(*follower).or_default().push(frame);
                }
                ClientAck::StreamEnded { follower, .. } => ended.push(*follower),
                _ => {}
            }
        }
        for (follower, frames) in heard {
            let places: Vec<u64> = frames.iter().map(|frame| frame.seq.0).collect();
            let in_order = places.iter().copied().eq(1..=places.len() as u64);
            self.require(in_order, StoreInvariant::Prefix, || {
                format!("follower {follower} heard {places:?}")
            });
            let (count, all) = (places.len(), self.run.events.len());
            self.require(!ended.contains(&follower) || count == all, StoreInvariant::Prefix, || {
                format!("follower {follower} heard {count} events of {all}")
            });
            for frame in frames {
                self.require(self.is_stored(frame), StoreInvariant::Prefix, || {
                    format!("follower {follower} heard of an event that is not there: {frame:?}")
                });
            }
        }
    }

    fn is_stored(&self, frame: &LedgerFrame) -> bool {
        let Some(event) = self.event(frame.seq) else { return false };
        let told = Value::encode(&BTreeMap::from([(&frame.r#type, &frame.data)])).ok();
        event.at == frame.at && told == Value::encode(&event.kind).ok()
    }
}
