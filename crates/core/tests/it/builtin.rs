//! Built-in functions: a plan holds their data, and says by its version that it does.

use expect_test::expect;
use rival_core::machine::{Effect, MachineInput, RunStart};
use rival_core::plan::{
    Builtin, CompensationSpec, FunctionRef, LoopTest, Node, NodeKind, PLAN_VERSION, PlanReadError,
    SleepLength,
};
use rival_core::{Plan, Value};

use crate::support::{
    Case, branch, for_each, looping, nested_with, parallel_with, plan, sleep, step, step_with,
};

fn builtin(name: &str, with: &str) -> FunctionRef {
    let with = Value::from_json(with.to_owned()).expect("it is JSON");
    Builtin::new(name, &with).expect("it can be kept").into()
}

fn tool(id: &str, with: &str) -> Node {
    step_with(id, |step| step.function = builtin("tool", with))
}

/// A built-in function in every place that a plan has for functions.
fn everywhere() -> Plan {
    let mut all = plan(vec![
        step_with("step", |step| {
            step.function = builtin("tool", r#"{"input": {"$": ["input", "id"]}, "connection": "github"}"#);
            step.on_error = Some(builtin("b", "1"));
            let function = builtin("c", "2");
            step.compensate = Some(CompensationSpec { function, ..CompensationSpec::default() });
        }),
        sleep("nap", SleepLength::Computed(builtin("moment", r#"{"$": ["step", "at"]}"#))),
        branch("if", vec![("then", vec![step("named")])], None),
        looping("again", vec![tool("once", "{}")], LoopTest::Until(builtin("d", "3"))),
        looping("while", vec![tool("once", "{}")], LoopTest::While(builtin("e", "4"))),
        for_each("each", 2, vec![tool("call", r#"{"$":["item"]}"#)]),
        parallel_with("both", vec![("left", vec![tool("l", "null")])], |it| {
            it.finally = Some(builtin("f", "5"));
        }),
        nested_with("inner", vec![step("named")], |it| {
            it.input = Some(builtin("g", "6"));
            it.on_error = Some(builtin("h", "7"));
        }),
    ]);
    all.on_error = Some(builtin("i", "8"));
    let set = |node: &mut Node| match &mut node.kind {
        NodeKind::Branch(branch) => branch.choose = builtin("j", "9"),
        NodeKind::ForEach(each) => each.items = builtin("value", r#"{"$":["step","users"]}"#),
        _ => {}
    };
    all.block.nodes.iter_mut().for_each(set);
    all
}

/// When this fails, plans that are stored do not read, or have another hash than their runs say.
#[test]
fn built_in_functions_are_written_as_they_always_were() {
    let plan = everywhere();
    expect![[r#"{"version":2,"workflow":"w","block":{"nodes":[{"id":"step","kind":"step","function":{"use":"tool","with":{"connection":"github","input":{"$":["input","id"]}}},"onError":{"use":"b","with":1},"compensate":{"function":{"use":"c","with":2}}},{"id":"nap","kind":"sleep","wait":{"computed":{"use":"moment","with":{"$":["step","at"]}}}},{"id":"if","kind":"branch","choose":{"use":"j","with":9},"cases":[{"name":"then","block":{"nodes":[{"id":"named","kind":"step","function":"named"}]}}]},{"id":"again","kind":"loop","body":{"nodes":[{"id":"once","kind":"step","function":{"use":"tool","with":{}}}]},"test":{"until":{"use":"d","with":3}},"maxIterations":3},{"id":"while","kind":"loop","body":{"nodes":[{"id":"once","kind":"step","function":{"use":"tool","with":{}}}]},"test":{"while":{"use":"e","with":4}},"maxIterations":3},{"id":"each","kind":"forEach","items":{"use":"value","with":{"$":["step","users"]}},"body":{"nodes":[{"id":"call","kind":"step","function":{"use":"tool","with":{"$":["item"]}}}]},"concurrency":2,"maxIterations":20},{"id":"both","kind":"parallel","branches":[{"name":"left","block":{"nodes":[{"id":"l","kind":"step","function":{"use":"tool","with":null}}]}}],"join":"all","finally":{"use":"f","with":5}},{"id":"inner","kind":"workflow","workflow":"inner","block":{"nodes":[{"id":"named","kind":"step","function":"named"}]},"input":{"use":"g","with":6},"onError":{"use":"h","with":7}}]},"onError":{"use":"i","with":8}}"#]].assert_eq(&plan.to_json());
    expect!["92ea2613a5353baa5c09567f72ca7f254ee40e1db8184a0fbcd3340c1e8f100e"]
        .assert_eq(plan.hash().as_str());
    let back = Plan::from_json(&plan.to_json()).expect("what is written can be read");
    assert_eq!(back, plan);
    assert_eq!(serde_json::from_value::<Plan>(serde_json::to_value(&plan).unwrap()).unwrap(), plan);
    assert!(plan.check().is_empty());
}

#[test]
fn the_order_of_keys_and_spaces_do_not_make_another_plan() {
    let one = plan(vec![tool("a", r#"{"x": 1, "y": {"b": [1, 2], "a": "A"}}"#)]);
    let same = plan(vec![tool("a", r#"{"y":{"a":"\u0041","b":[1,2]},"x":1}"#)]);
    assert_eq!((one.to_json(), one.hash()), (same.to_json(), same.hash()));
    let shuffled =
        one.to_json().replace(r#"{"x":1,"y":{"a":"A","b":[1,2]}}"#, r#"{ "y": {"b":[1,2],"a":"A"}, "x":1 }"#);
    assert_ne!(shuffled, one.to_json());
    assert_eq!(Plan::from_json(&shuffled).expect("it is a plan").hash(), one.hash());
}

#[test]
fn data_keeps_all_digits_at_any_depth_of_the_plan() {
    let with = r#"{"n":123456789012345678901234567890.12345678901234567890}"#;
    let inner = for_each("each", 1, vec![tool("call", with)]);
    let deep = plan(vec![parallel_with("both", vec![("left", vec![inner])], |_| {})]);
    let back = Plan::from_json(&deep.to_json()).expect("what is written can be read");
    assert!(back.to_json().contains(with), "{}", back.to_json());
}

#[test]
fn only_a_plan_that_needs_it_says_its_version() {
    assert!(plan(vec![step("a")]).to_json().starts_with(r#"{"workflow":"w","#));
    let new = plan(vec![for_each("each", 1, vec![tool("call", "{}")])]);
    assert!(new.to_json().starts_with(r#"{"version":2,"workflow":"w","#), "{}", new.to_json());
}

#[test]
fn a_plan_of_a_newer_version_is_not_damaged() {
    let newer = PLAN_VERSION + 1;
    let text = format!(r#"{{"block":{{"zigzag":true}},"workflow":7,"version":{newer}}}"#);
    let error = Plan::from_json(&text).expect_err("it is too new");
    assert!(matches!(error, PlanReadError::Newer { version } if version == newer), "{error}");
    assert_eq!(
        error.to_string(),
        "the plan was made by a newer version of Rival: it has version 4, and this one reads up to 3"
    );
    let known = text.replace(&newer.to_string(), "1");
    assert!(matches!(Plan::from_json(&known), Err(PlanReadError::Damaged(_))));
}

#[test]
fn what_is_no_built_in_function_is_refused() {
    let good = plan(vec![tool("a", "1")]).to_json();
    for bad in [r#"{"use":"tool","with":1,"why":2}"#, r#"{"with":1}"#, "7", "null", "[]"] {
        let text = good.replace(r#"{"use":"tool","with":1}"#, bad);
        assert!(matches!(Plan::from_json(&text), Err(PlanReadError::Damaged(_))), "{bad}");
    }
    let unknown = good.replace(r#""kind":"step""#, r#""kind":"lane""#);
    assert!(Plan::from_json(&unknown).is_err());
}

#[test]
fn what_nests_too_deep_is_refused_and_not_followed() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let with = Value::from_json(nested(100_000)).expect("it is JSON");
    let error = Builtin::new("tool", &with).expect_err("it is too deep");
    assert_eq!(
        error.to_string(),
        "the data of built-in function `tool` cannot be kept in a plan: it has more than 120 levels"
    );
    let (open, close) = (r#"{"nodes":[{"id":"a","kind":"workflow","workflow":"w","block":"#, "}]}");
    let plan = format!(r#"{{"workflow":"w","block":{}{{}}{}}}"#, open.repeat(50_000), close.repeat(50_000));
    assert!(matches!(Plan::from_json(&plan), Err(PlanReadError::Damaged(_))));
}

#[test]
fn a_call_has_the_data_of_its_function() {
    let mut case = Case::of(vec![tool("a", r#"{"x":1}"#)]);
    let effects = case.decide(MachineInput::Start(RunStart::new(Value::null()))).effects;
    let [Effect::Call(call)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(call.function, builtin("tool", r#"{"x":1}"#));
    assert_eq!(call.function.to_string(), "tool");
}
