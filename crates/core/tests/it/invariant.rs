//! What cannot happen: `machine/invariant.rs`.

use rival_core::event::{EventCause, EventKind};
use rival_core::machine::MachineInput;
use rival_core::{Event, Path, Seq};

use crate::support::{Case, step};

/// A run whose history holds a node that its plan does not have. No machine writes one.
fn impossible() -> Case {
    let mut case = Case::of(vec![step("a")]).start();
    let kind = EventKind::NodeHeld { node: Path::from("ghost"), due: None };
    let seq = case.state.seq.next();
    case.state.apply(&Event::new(seq, case.now, EventCause::Event(Seq(1)), None, kind));
    case
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a node starts that is not in the plan, at `ghost`")]
fn what_cannot_happen_panics() {
    let mut case = impossible();
    let loaded = case.state.seq;
    case.decide(MachineInput::Activate { loaded });
}

#[test]
#[cfg(not(debug_assertions))]
fn what_cannot_happen_breaks_the_decision() {
    let mut case = impossible();
    let loaded = case.state.seq;
    let broken = case.decide(MachineInput::Activate { loaded }).broken.unwrap();
    assert_eq!(broken.node, Path::from("ghost"));
    assert_eq!(broken.to_string(), "internal: a node starts that is not in the plan, at `ghost`");
}
