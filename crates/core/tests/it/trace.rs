//! Trace context: what is read from a header, and ids that never change.

use rival_core::event::{self, CallRole, EventKind};
use rival_core::machine::RunStart;
use rival_core::{Path, RunId, TraceParent, Value};

use crate::support::{Case, step};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

fn parsed(header: &str) -> Option<String> {
    TraceParent::parse(header).map(|parent| parent.to_string())
}

/// The cases of the standard's own validation, section 3.2.
#[test]
fn headers_are_read_as_the_standard_says() {
    let good = [
        ("as it is", format!("00-{TRACE}-{SPAN}-01"), "01"),
        ("not sampled", format!("00-{TRACE}-{SPAN}-00"), "00"),
        ("flags that we do not know", format!("00-{TRACE}-{SPAN}-ff"), "01"),
        ("flags that we do not know, not sampled", format!("00-{TRACE}-{SPAN}-fe"), "00"),
        ("a later version", format!("cc-{TRACE}-{SPAN}-01"), "01"),
        ("a later version with more in it", format!("cc-{TRACE}-{SPAN}-01-what-the-future-holds"), "01"),
        ("a later version that ends with a dash", format!("cc-{TRACE}-{SPAN}-01-"), "01"),
    ];
    for (why, header, flags) in good {
        assert_eq!(parsed(&header), Some(format!("00-{TRACE}-{SPAN}-{flags}")), "{why}: {header}");
    }
    let zeros = "0".repeat(32);
    let bad = [
        ("nothing", String::new()),
        ("no version", format!("{TRACE}-{SPAN}-01")),
        ("a version that is refused for ever", format!("ff-{TRACE}-{SPAN}-01")),
        ("a version in capitals", format!("CC-{TRACE}-{SPAN}-01")),
        ("a version that is too short", format!("0-{TRACE}-{SPAN}-01")),
        ("a version that is too long", format!("000-{TRACE}-{SPAN}-01")),
        ("a version that is no number", format!(".0-{TRACE}-{SPAN}-01")),
        ("this version with more in it", format!("00-{TRACE}-{SPAN}-01-what-the-future-holds")),
        ("this version that ends with a dash", format!("00-{TRACE}-{SPAN}-01-")),
        ("this version that goes on", format!("00-{TRACE}-{SPAN}-01x")),
        ("a later version that goes on without a dash", format!("cc-{TRACE}-{SPAN}-01.more")),
        ("a trace of zeros", format!("00-{zeros}-{SPAN}-01")),
        ("a trace in capitals", format!("00-{}-{SPAN}-01", TRACE.to_uppercase())),
        ("a trace that is too short", format!("00-{}-{SPAN}-01", &TRACE[1..])),
        ("a trace that is too long", format!("00-{TRACE}0-{SPAN}-01")),
        ("a trace with a letter that is no digit", format!("00-g{}-{SPAN}-01", &TRACE[1..])),
        ("a span of zeros", format!("00-{TRACE}-{}-01", &zeros[..16])),
        ("a span in capitals", format!("00-{TRACE}-{}-01", SPAN.to_uppercase())),
        ("a span that is too short", format!("00-{TRACE}-{}-01", &SPAN[1..])),
        ("a span that is too long", format!("00-{TRACE}-{SPAN}0-01")),
        ("flags that are too short", format!("00-{TRACE}-{SPAN}-1")),
        ("flags that are no number", format!("00-{TRACE}-{SPAN}-.0")),
        ("no flags", format!("00-{TRACE}-{SPAN}")),
        ("other separators", format!("00_{TRACE}_{SPAN}_01")),
        ("spaces around", format!(" 00-{TRACE}-{SPAN}-01 ")),
        ("a letter of two bytes at the end", format!("00-{TRACE}-{SPAN}-0é")),
    ];
    for (why, header) in bad {
        assert_eq!(parsed(&header), None, "{why}: {header}");
    }
}

/// Services and traces out there hold these ids: they stay as they are for ever.
#[test]
fn ids_never_change() {
    let run = RunId::from("order-7");
    let own = TraceParent::of_run(&run, None);
    assert_eq!(own.to_string(), "00-9d534ecab4b6b680a278e93e437d99d6-25de11535ff806b6-01");
    let given = TraceParent::parse(&format!("00-{TRACE}-{SPAN}-00"));
    assert_eq!(
        TraceParent::of_run(&run, given).to_string(),
        "00-0af7651916cd43dd8448eb211c80319c-25de11535ff806b6-00"
    );
    let call = |node: &str, role, call| own.of_call(&run, &Path::from(node), role, call).to_string();
    assert_eq!(call("charge", CallRole::Step, 1), "00-9d534ecab4b6b680a278e93e437d99d6-16d9a818317d520c-01");
    assert_eq!(call("charge", CallRole::Step, 2), "00-9d534ecab4b6b680a278e93e437d99d6-cf1c5754fa6a45d2-01");
    assert_eq!(
        call("charge", CallRole::Compensate, 2),
        "00-9d534ecab4b6b680a278e93e437d99d6-1c9d275e4ed25d2d-01"
    );
    assert_eq!(
        call("items[3]/charge", CallRole::Step, 1),
        "00-9d534ecab4b6b680a278e93e437d99d6-a4e6278917d4e779-01"
    );
}

#[test]
fn a_role_is_called_what_it_is_stored_as() {
    use CallRole::{Choose, Compensate, Finally, Input, Items, OnError, Step, Test, Wait};
    for role in [Step, OnError, Input, Wait, Choose, Test, Items, Finally, Compensate] {
        assert_eq!(serde_json::to_value(role).unwrap(), role.name());
    }
}

#[test]
fn a_run_keeps_who_started_it() {
    let trace = TraceParent::parse(&format!("00-{TRACE}-{SPAN}-01"));
    let case = Case::of(vec![step("a")]).start_with(RunStart { trace, ..RunStart::new(Value::null()) });
    assert_eq!(case.state.trace, trace);
    let snapshot = serde_json::to_string(&case.state).unwrap();
    assert_eq!(serde_json::from_str::<rival_core::RunState>(&snapshot).unwrap(), case.state);
}

/// Why a new field needs no new version of the schema: a build that does not know it reads on.
#[test]
fn fields_that_a_build_does_not_know_are_ignored() {
    let json = r#"[{"seq":1,"at":0,"cause":"request","event":{"runStarted":{"workflow":"w","plan":"x","input":null,"ofLater":"x"}}}]"#;
    let events = event::decode(json.as_bytes()).unwrap();
    assert!(matches!(&events[0].kind, EventKind::RunStarted { trace: None, .. }));
    let without = json.replace(r#","ofLater":"x""#, "");
    assert_eq!(String::from_utf8(event::encode(&events)).unwrap(), without);
}
