//! What `build()` says about functions and steps inside of blocks, word for word.

use rival::prelude::*;
use rival::{Data, Workflow, WorkflowBuilder};

#[step]
async fn a() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn use_a(a: Output<a>) -> Result<u32, StepError> {
    Ok(*a)
}

#[step]
async fn yes() -> Result<bool, StepError> {
    Ok(true)
}

#[step]
async fn a_is_there(a: Output<a>) -> Result<bool, StepError> {
    Ok(*a > 0)
}

#[step]
async fn numbers() -> Result<Vec<u32>, StepError> {
    Ok(vec![])
}

#[step]
async fn use_item(Item(item): Item<String>) -> Result<String, StepError> {
    Ok(item)
}

#[step]
async fn use_items(Items(items): Items<u32>, item: Item<serde_json::Value>) -> Result<usize, StepError> {
    let _ = item;
    Ok(items.len())
}

#[step]
async fn use_last(LastIteration(last): LastIteration<String>) -> Result<u32, StepError> {
    let _ = last;
    Ok(1)
}

#[step]
async fn use_iteration(iteration: Iteration) -> Result<bool, StepError> {
    Ok(iteration.is_first())
}

#[step]
async fn use_joined(joined: Joined) -> Result<usize, StepError> {
    Ok(joined.len())
}

#[step]
async fn undo(undo: Undo<u32>) -> Result<(), StepError> {
    let _ = undo;
    Ok(())
}

fn new() -> WorkflowBuilder<(), ()> {
    Workflow::new("w")
}

#[track_caller]
fn message<I: Data, O: Data>(builder: WorkflowBuilder<I, O>) -> String {
    let errors = builder.build().expect_err("it must be refused");
    errors.iter().map(|error| error.message().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_step_inside_of_a_block_is_not_seen_outside() {
    let hidden = "step `use_a` asks for Output<a>, but `a` is inside of `x`, which shows only its own result: read that with \
         `Steps`";
    let branch = new().branch("x", yes, |c| c.then(|b| b.step(a))).step(use_a);
    assert_eq!(message(branch), hidden);
    assert_eq!(message(new().parallel("x", |p| p.branch("l", |b| b.step(a))).step(use_a)), hidden);
    assert_eq!(message(new().repeat("x", |l| l.body(|b| b.step(a)).until(yes)).step(use_a)), hidden);
    assert_eq!(message(new().for_each("x", numbers, |e| e.body(|b| b.step(a))).step(use_a)), hidden);
}

#[test]
fn a_step_of_another_branch_is_not_seen() {
    let beside =
        "step `x/r/use_a` asks for Output<a>, but `a` is in `x/l`, beside it: one may run without the other";
    let parallel = new().parallel("x", |p| p.branch("l", |b| b.step(a)).branch("r", |b| b.step(use_a)));
    assert_eq!(message(parallel), beside);
    let cases = new().branch(
        "x",
        || Ok::<_, StepError>(String::new()),
        |c| c.case("l", |b| b.step(a)).case("r", |b| b.step(use_a)),
    );
    assert_eq!(message(cases), beside);
}

#[test]
fn a_later_step_of_an_outer_block_is_not_seen() {
    assert_eq!(
        message(new().parallel("x", |p| p.branch("l", |b| b.step(use_a))).step(a)),
        "step `x/l/use_a` asks for Output<a>, but `a` does not come before it"
    );
    assert!(new().step(a).parallel("x", |p| p.branch("l", |b| b.step(use_a))).build().is_ok());
    // The nearest one is meant, so these are not two.
    assert!(new().step(a).parallel("x", |p| p.branch("l", |b| b.step(a).step(use_a))).build().is_ok());
}

#[test]
fn a_loops_test_sees_the_body() {
    assert!(new().repeat("x", |l| l.body(|b| b.step(a)).until(a_is_there)).build().is_ok());
    assert_eq!(
        message(new().repeat("x", |l| l.body(|b| b.step(a)).while_true(a_is_there))),
        "test `a_is_there` of loop `x` asks for Output<a>, which has not run before the first iteration: use \
         Option<Output<a>>"
    );
    assert_eq!(
        message(new().repeat("x", |l| l.body(|b| b.step(yes)).until(a_is_there))),
        "test `a_is_there` of loop `x` asks for Output<a>, but `a` is not a step of workflow `w`"
    );
}

#[test]
fn items_are_those_of_the_for_each() {
    assert_eq!(
        message(new().step(use_item)),
        "step `use_item` asks for an item of type alloc::string::String, but there is no forEach around it"
    );
    assert_eq!(
        message(new().for_each("x", numbers, |e| e.body(|b| b.step(use_item)))),
        "step `x/use_item` asks for an item of type alloc::string::String, but the items of `x` are u32"
    );
    assert!(new().for_each("x", numbers, |e| e.body(|b| b.step(use_items))).build().is_ok());
    let any = || Ok::<_, StepError>(serde_json::json!([1]));
    assert!(new().for_each("x", any, |e| e.body(|b| b.step(use_item))).build().is_ok());
}

#[test]
fn iterations_are_those_of_the_loop() {
    assert_eq!(
        message(new().step(use_last)),
        "step `use_last` asks for LastIteration<alloc::string::String>, but there is no loop around it"
    );
    assert_eq!(
        message(new().repeat("x", |l| l.body(|b| b.step(use_last)).until(yes))),
        "step `x/use_last` asks for LastIteration<alloc::string::String>, but an iteration of `x` gives u32"
    );
    assert_eq!(
        message(new().step(use_iteration)),
        "step `use_iteration` asks for Iteration, but there is no loop or forEach around it"
    );
    assert!(new().repeat("x", |l| l.body(|b| b.step(a)).until(use_iteration)).build().is_ok());
    assert!(new().for_each("x", numbers, |e| e.body(|b| b.step(use_iteration))).build().is_ok());
}

#[test]
fn joined_is_for_finally() {
    assert_eq!(
        message(new().parallel("x", |p| p.branch("l", |b| b.step(a))).step(use_joined)),
        "step `use_joined` asks for Joined, which only the `finally` of a parallel block is given: read the block's \
         result with `Steps`"
    );
}

#[test]
fn the_functions_of_a_block_come_before_its_steps() {
    #[step]
    async fn a_items(a: Output<a>) -> Result<Vec<u32>, StepError> {
        Ok(vec![*a])
    }
    assert_eq!(
        message(new().parallel("x", |p| p.branch("l", |b| b.step(a)).finally(use_a))),
        "finally `use_a` of parallel `x` asks for Output<a>, which is inside of a branch: ask for `Joined`"
    );
    assert_eq!(
        message(new().branch("x", a_is_there, |c| c.then(|b| b.step(a)))),
        "choice `a_is_there` of branch `x` asks for Output<a>, but `a` does not come before it"
    );
    assert_eq!(
        message(new().for_each("x", a_items, |e| e.body(|b| b.step(a)))),
        "items function `a_items` of forEach `x` asks for Output<a>, but `a` does not come before it"
    );
    assert_eq!(
        message(new().on_error(use_a).parallel("x", |p| p.branch("l", |b| b.step(a)))),
        "error handler `use_a` of workflow `w` asks for Output<a>, but `a` is inside of a block, which shows only its \
         own result"
    );
}

#[test]
fn undo_is_for_compensations() {
    #[step]
    async fn undo_a(a: Output<a>) -> Result<(), StepError> {
        let _ = a;
        Ok(())
    }
    assert_eq!(message(new().step(undo)), "step `undo` asks for Undo, which only compensations are given");
    assert_eq!(
        message(new().step(yes.compensate(undo))),
        "compensation `undo` of step `yes` asks for Undo<u32>, but the step returns bool"
    );
    assert_eq!(
        message(new().step(a.compensate(undo_a))),
        "compensation `undo_a` of step `a` asks for Output<a>, which is the step it undoes: ask for `Undo<T>`"
    );
    assert_eq!(
        message(new().step(a.compensate(undo.at_most_once()))),
        "compensation `undo` of step `a` has options of a step: only `.named(\"..\")`, `.retry(..)`, `.backoff(..)`, \
         `.jitter()` and `.timeout(..)` mean something there"
    );
}

#[test]
fn settings_that_make_no_sense() {
    assert_eq!(message(new().parallel("x", |p| p)), "`x` has no branches: add at least one");
    assert_eq!(
        message(new().parallel("x", |p| p.branch("l", |b| b))),
        "`x/l` has no steps: add at least one"
    );
    let two = |p: rival::ParallelBuilder<Joined>| p.branches(["l", "r"], |_, b| b.step(a));
    assert_eq!(
        message(new().parallel("x", |p| two(p).join(Join::N(3)))),
        "`x` waits for 3 branches but has 2"
    );
    assert_eq!(message(new().parallel("x", |p| two(p).join(Join::N(0)))), "`x`: join must be at least 1");
    assert_eq!(
        message(new().parallel("x", |p| two(p).join(Join::First).collect())),
        "`x` has `.collect()`, which needs the results of all branches: use Join::All"
    );
    assert_eq!(
        message(new().parallel("x", |p| two(p).branch("l", |b| b.step(a)))),
        "two branches of `x` are called `l`: give one of them another name"
    );
    assert_eq!(
        message(new().for_each("x", numbers, |e| e.body(|b| b.step(a)).concurrency(0))),
        "`x`: concurrency must be at least 1"
    );
    assert_eq!(
        message(
            new().repeat("x", |l| l.body(|b| b.step(a.named("a").retry(0))).until(yes).max_iterations(0))
        ),
        "`x`: max_iterations must be at least 1\n`x/a`: retry(0) would never call it: write at least 1"
    );
    assert_eq!(
        message(new().branch("x", yes, |c| c.case("sea", |b| b.step(a)))),
        "choice `yes` of branch `x` returns true or false: use `.then(..)` and `.otherwise(..)`, not cases"
    );
    assert_eq!(
        message(new().branch("x", yes.retry(3), |c| c.then(|b| b.step(a)))),
        "choice `yes` of branch `x` has options of a step: only `.named(\"..\")` means something there"
    );
    assert_eq!(
        message(new().parallel("x", |p| p.branch("l", |b| b.step(a.named("s")).step(yes.named("s"))))),
        "two steps of `x/l` are called `s`: give one another name with `.named(\"..\")`"
    );
}

#[test]
fn an_error_inside_has_its_own_line() {
    let first = line!() + 1;
    let inner = |b: Block<()>| b.step(use_a);
    let builder = new().parallel("x", |p| p.branch("l", inner));
    let errors = builder.build().unwrap_err();
    let lines: Vec<u32> = errors.iter().map(|error| error.location().line()).collect();
    assert_eq!(lines, [first]);
}
