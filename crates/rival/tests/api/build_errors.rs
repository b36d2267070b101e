//! Every message of `build()`, word for word.

use std::time::Duration;

use rival::prelude::*;
use rival::{BuildErrors, Workflow, WorkflowBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trees::{Order, chop_tree, find_tree, tell_forester};

#[step]
async fn a() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn use_a(a: Output<a>) -> Result<u32, StepError> {
    Ok(*a)
}

#[step]
async fn maybe_a(a: Option<Output<a>>) -> Result<bool, StepError> {
    Ok(a.is_some())
}

#[step]
async fn clean_up(a: Output<a>) -> Result<(), StepError> {
    let _ = a;
    Ok(())
}

mod other {
    use rival::prelude::*;

    #[step]
    pub(crate) async fn a() -> Result<String, StepError> {
        Ok("other".into())
    }
}

async fn generic<T: Default + rival::Data>() -> Result<T, StepError> {
    Ok(T::default())
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {}

#[track_caller]
fn messages<I: rival::Data, O: rival::Data>(builder: WorkflowBuilder<I, O>) -> Vec<String> {
    let errors = builder.build().expect_err("it must be refused");
    errors.iter().map(|error| error.message().to_owned()).collect()
}

fn new() -> WorkflowBuilder<(), ()> {
    Workflow::new("w")
}

#[test]
fn a_workflow_without_steps() {
    assert_eq!(messages(new()), ["workflow `w` has no steps: add at least one"]);
}

#[test]
fn an_output_of_a_later_step() {
    let builder = new().input::<Order>().step(chop_tree).step(find_tree);
    assert_eq!(
        messages(builder),
        ["step `chop_tree` asks for Output<find_tree>, but `find_tree` does not come before it"]
    );
}

#[test]
fn an_optional_output_of_a_later_step() {
    assert_eq!(
        messages(new().step(maybe_a).step(a)),
        ["step `maybe_a` asks for Output<a>, but `a` does not come before it"]
    );
}

#[test]
fn an_output_of_a_step_that_is_not_there() {
    assert_eq!(
        messages(new().step(use_a)),
        ["step `use_a` asks for Output<a>, but `a` is not a step of workflow `w`"]
    );
}

#[test]
fn an_output_of_a_step_that_is_there_twice() {
    assert_eq!(
        messages(new().step(a).step(a).step(use_a)),
        [
            "step `use_a` asks for Output<a>, but `a` is used 2 times here: ask for `Steps` and read it by its id"
        ]
    );
}

#[test]
fn an_output_that_may_be_absent() {
    assert_eq!(
        messages(new().step(a.continue_on_error()).step(use_a)),
        ["step `use_a` asks for Output<a>, which may have failed and gone on (continue_on_error): \
          use Option<Output<a>>"]
    );
    assert!(new().step(a.continue_on_error()).step(maybe_a).build().is_ok());
}

#[test]
fn an_output_that_a_handler_cannot_count_on() {
    assert_eq!(
        messages(new().on_error(clean_up).step(a)),
        [
            "error handler `clean_up` of workflow `w` asks for Output<a>, which may not have run when the handler \
          is called: use Option<Output<a>>"
        ]
    );
    assert_eq!(
        messages(new().step(a.on_error(clean_up))),
        ["error handler `clean_up` of step `a` asks for Output<a>, but `a` does not come before it"]
    );
    assert!(new().on_error(maybe_a).step(a).step(use_a.on_error(clean_up)).build().is_ok());
}

#[test]
fn another_input() {
    let builder = new().input::<Parcel>().step(find_tree);
    assert_eq!(
        messages(builder),
        [
            "step `find_tree` asks for Input<api::trees::Order>, but workflow `w` takes api::build_errors::Parcel"
        ]
    );
    assert_eq!(
        messages(new().step(find_tree)),
        ["step `find_tree` asks for Input<api::trees::Order>, but workflow `w` takes no input: \
          add `.input::<api::trees::Order>()`"]
    );
}

#[test]
fn input_as_json_fits_any_workflow() {
    #[step]
    async fn raw(Input(input): Input<serde_json::Value>) -> Result<serde_json::Value, StepError> {
        Ok(input)
    }
    assert!(new().step(raw).build().is_ok());
    assert!(new().input::<Order>().step(raw).build().is_ok());
}

#[test]
fn two_explicit_names() {
    assert_eq!(
        messages(new().step(a.named("x")).step(use_a.named("x"))),
        ["two steps are called `x`: give one another name with `.named(\"..\")`"]
    );
    assert_eq!(
        messages(new().step(a).step(a).step(maybe_a.named("a_2"))).last().map(String::as_str),
        Some("two steps are called `a_2`: give one another name with `.named(\"..\")`")
    );
}

#[test]
fn two_functions_of_one_name() {
    assert_eq!(
        messages(new().step(a).step(other::a)),
        ["step `a_2`: another function is called `a`: give one of them another name with `.named(\"..\")`"]
    );
    assert!(new().step(a).step(other::a.named("b")).build().is_ok());
}

#[test]
fn functions_without_a_name() {
    let nameless = "closures, fn pointers and generic functions have no durable name: write a `#[step] fn`, or \
                    name it with `.named(\"..\")`";
    assert_eq!(messages(new().step(|| async { Ok::<u32, StepError>(1) })), [nameless]);
    assert_eq!(messages(new().step(generic::<u8>)), [nameless]);
    let pointer: fn() -> Result<u32, StepError> = || Ok(1);
    assert_eq!(messages(new().step(pointer)), [nameless]);
    assert_eq!(messages(new().step(a.on_error(|| Ok::<(), StepError>(())))), [nameless]);

    assert!(new().step((|| async { Ok::<u32, StepError>(1) }).named("one")).build().is_ok());
    assert!(new().step(a.on_error((|| Ok::<(), StepError>(())).named("shrug"))).build().is_ok());
}

#[test]
fn names_with_reserved_characters() {
    let rule = "use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside";
    assert_eq!(messages(new().step(a.named("x/y"))), [format!("`x/y` is not a name for a node: {rule}")]);
    assert_eq!(messages(Workflow::new("").step(a)), [format!("`` is not a name for a workflow: {rule}")]);
}

#[test]
fn numbers_that_make_no_sense() {
    assert_eq!(messages(new().step(a.timeout(Duration::ZERO))), ["`a`: a timeout must be at least 1 ms"]);
    assert_eq!(
        messages(new().step(a.timeout(Duration::from_micros(999)))),
        ["`a`: a timeout must be at least 1 ms"]
    );
    assert_eq!(messages(new().step(a.retry(0))), ["`a`: retry(0) would never call it: write at least 1"]);
    assert_eq!(messages(new().timeout(Duration::ZERO).step(a)), ["`w`: a timeout must be at least 1 ms"]);
}

#[test]
fn a_failure_outside_a_handler() {
    assert_eq!(
        messages(new().step(tell_forester)),
        ["step `tell_forester` asks for Failure, which only error handlers are given"]
    );
}

#[test]
fn options_where_they_mean_nothing() {
    assert_eq!(
        messages(new().step(a.on_error(tell_forester.retry(3)))),
        [
            "error handler `tell_forester` of step `a` has options of a step: only `.named(\"..\")` means something \
          there"
        ]
    );
}

#[test]
fn a_delay_that_asks_for_what_is_not_there() {
    async fn as_long_as_a(a: Output<a>) -> Result<Duration, StepError> {
        Ok(Duration::from_secs((*a).into()))
    }
    assert_eq!(
        messages(new().step(delay_by(as_long_as_a)).step(a)),
        ["delay `delay` asks for Output<a>, but `a` does not come before it"]
    );
    assert_eq!(
        messages(new().step(a).step(delay_by(as_long_as_a.retry(2)).named("nap"))),
        ["delay `nap` has options of a step: only `.named(\"..\")` means something there"]
    );
}

#[test]
fn all_errors_come_at_once_each_with_its_line() {
    let first = line!() + 1;
    let builder = new().step(use_a);
    let builder = builder.steps((a.retry(0), a.named("a_3")));
    let errors: BuildErrors = builder.build().unwrap_err();
    let file = file!();
    let expected = format!(
        "workflow `w` cannot be built:\n  \
         step `use_a` asks for Output<a>, but `a` does not come before it ({file}:{})\n  \
         `a`: retry(0) would never call it: write at least 1 ({file}:{})",
        first,
        first + 1,
    );
    assert_eq!(errors.to_string(), expected);
    assert_eq!(format!("{errors:?}"), expected);
}

#[test]
fn a_signal_that_may_carry_nothing_cannot_have_a_timeout_that_is_a_value() {
    let hour = Duration::from_secs(3_600);
    let refused = "signal `go`: a payload that may be nothing cannot be told from a timeout: \
                   wait for a bool or an enum, or use `.timeout(..)`";
    assert_eq!(messages(new().step(signal::<()>("go").timeout_value(hour))), [refused]);
    assert_eq!(messages(new().step(signal::<Option<u32>>("go").timeout_value(hour))), [refused]);
    new().step(signal::<()>("go").timeout(hour)).build().unwrap();
    new().step(signal::<bool>("go").timeout_value(hour)).build().unwrap();
    new().step(signal::<serde_json::Value>("go").timeout_value(hour)).build().unwrap();
}

#[test]
fn closures_need_names_wherever_they_are() {
    let nameless = "closures, fn pointers and generic functions have no durable name: \
                    write a `#[step] fn`, or name it with `.named(\"..\")`";
    let pause = || || Ok::<_, StepError>(Duration::from_secs(1));
    assert_eq!(messages(new().step(delay_by(pause()))), [nameless]);
    new().step(delay_by(pause()).named("nap")).build().unwrap();
    let ask = || || Ok::<_, StepError>(Http::get("https://example.com"));
    assert_eq!(messages(new().step(http_by(ask()))), [nameless]);
    new().step(http_by(ask()).named("ask")).build().unwrap();
}

#[test]
fn two_nested_workflows_of_one_name_need_names() {
    let nested = || Workflow::new("pay").step(a).build().unwrap();
    let (one, other) = (nested(), nested());
    assert_eq!(
        messages(new().workflow(&one).workflow(&other)),
        ["two nested workflows are called `pay`: give one another name with `.named(\"..\")`"]
    );
    new().workflow(&one).workflow(&one).workflow(other.named("other")).build().unwrap();
}
