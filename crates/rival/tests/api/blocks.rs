//! Branches, loops, forEach and parallel blocks: the plans they make, and the types they give.

use std::time::Duration;

use expect_test::{Expect, expect};
use rival::prelude::*;
use rival::{Data, Workflow};
use serde::{Deserialize, Serialize};

#[step]
async fn one() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn two() -> Result<u32, StepError> {
    Ok(2)
}

#[step]
async fn text() -> Result<String, StepError> {
    Ok("text".into())
}

#[step]
async fn is_large(one: Output<one>) -> Result<bool, StepError> {
    Ok(*one > 1)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Route {
    Air,
    Sea,
}

#[step]
async fn route() -> Result<Route, StepError> {
    Ok(Route::Sea)
}

#[step]
async fn orders() -> Result<Vec<u32>, StepError> {
    Ok(vec![1, 2, 3])
}

#[step]
async fn charge(Item(order): Item<u32>, iteration: Iteration) -> Result<u32, StepError> {
    Ok(order + iteration.index())
}

#[step]
async fn refund(undo: Undo<u32>) -> Result<(), StepError> {
    let _ = undo.result;
    Ok(())
}

#[step]
async fn count(joined: Joined) -> Result<usize, StepError> {
    Ok(joined.len())
}

#[step]
async fn ask(LastIteration(last): LastIteration<u32>) -> Result<u32, StepError> {
    Ok(last.unwrap_or(0) + 1)
}

#[step]
async fn is_done(asked: Output<ask>) -> Result<bool, StepError> {
    Ok(*asked >= 3)
}

#[step]
async fn is_open(asked: Option<Output<ask>>) -> Result<bool, StepError> {
    Ok(asked.is_none_or(|asked| *asked < 3))
}

fn nodes<I, O>(workflow: &Workflow<I, O>, expected: &Expect) {
    let lines = workflow.plan().block.nodes.iter().map(|node| serde_json::to_string(node).unwrap() + "\n");
    expected.assert_eq(&lines.collect::<String>());
}

fn gives<T: Data, I>(_: &Workflow<I, T>) {}

#[test]
fn a_parallel_block_has_named_branches() {
    let crm = Workflow::new("crm").step(two).build().unwrap();
    let workflow = Workflow::new("w")
        .parallel("setup", |p| {
            p.branch("db", |b| b.step(one).step(one))
                .branch("crm", |b| b.workflow(&crm))
                .join(Join::All)
                .finally(count)
        })
        .build()
        .unwrap();
    gives::<usize, _>(&workflow);
    nodes(
        &workflow,
        &expect![[r#"
        {"id":"setup","kind":"parallel","branches":[{"name":"db","block":{"nodes":[{"id":"one","kind":"step","function":"one"},{"id":"one_2","kind":"step","function":"one"}]}},{"name":"crm","block":{"nodes":[{"id":"crm","kind":"workflow","workflow":"crm","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}}]}}],"join":"all","finally":"count"}
    "#]],
    );
}

#[test]
fn a_race_has_another_join() {
    let workflow = Workflow::new("w")
        .parallel("race", |p| p.branch("a", |b| b.step(one)).branch("b", |b| b.step(text)).join(Join::First))
        .parallel("most", |p| p.branches(["x", "y", "z"], |_, b| b.step(two)).join(Join::N(2)))
        .parallel("whatever", |p| p.branch("a", |b| b.step(one)).collect())
        .build()
        .unwrap();
    gives::<Joined, _>(&workflow);
    nodes(
        &workflow,
        &expect![[r#"
        {"id":"race","kind":"parallel","branches":[{"name":"a","block":{"nodes":[{"id":"one","kind":"step","function":"one"}]}},{"name":"b","block":{"nodes":[{"id":"text","kind":"step","function":"text"}]}}],"join":"first"}
        {"id":"most","kind":"parallel","branches":[{"name":"x","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}},{"name":"y","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}},{"name":"z","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}}],"join":{"n":2}}
        {"id":"whatever","kind":"parallel","branches":[{"name":"a","block":{"nodes":[{"id":"one","kind":"step","function":"one"}]}}],"join":"all","onFailure":"collect"}
    "#]],
    );
}

#[test]
fn a_choice_is_between_two_or_by_name() {
    let workflow = Workflow::new("w")
        .step(one)
        .branch("size", is_large, |c| c.then(|b| b.step(one)).otherwise(|b| b.step(two)))
        .branch("route", route, |c| {
            c.case("air", |b| b.step(one)).case("sea", |b| b.step(two)).default(|b| b.steps((one, two)))
        })
        .build()
        .unwrap();
    gives::<u32, _>(&workflow);
    nodes(
        &workflow,
        &expect![[r#"
        {"id":"one","kind":"step","function":"one"}
        {"id":"size","kind":"branch","choose":"is_large","cases":[{"name":"then","block":{"nodes":[{"id":"one","kind":"step","function":"one"}]}},{"name":"else","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}}]}
        {"id":"route","kind":"branch","choose":"route","cases":[{"name":"air","block":{"nodes":[{"id":"one","kind":"step","function":"one"}]}},{"name":"sea","block":{"nodes":[{"id":"two","kind":"step","function":"two"}]}}],"default":{"nodes":[{"id":"one","kind":"step","function":"one"},{"id":"two","kind":"step","function":"two"}]}}
    "#]],
    );
}

#[test]
fn a_choice_without_an_else_may_give_nothing() {
    let workflow =
        Workflow::new("w").step(one).branch("size", is_large, |c| c.then(|b| b.step(text))).build().unwrap();
    gives::<Option<String>, _>(&workflow);
}

#[test]
fn a_loop_runs_until_or_while() {
    let until = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(delay_step(Duration::from_secs(1))).step(ask)).until(is_done))
        .build()
        .unwrap();
    gives::<u32, _>(&until);
    nodes(
        &until,
        &expect![[r#"
        {"id":"poll","kind":"loop","body":{"nodes":[{"id":"delay","kind":"sleep","wait":{"forMs":1000}},{"id":"ask","kind":"step","function":"ask"}]},"test":{"until":"is_done"},"maxIterations":1000}
    "#]],
    );
    let during = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(ask)).while_true(is_open).max_iterations(7))
        .build()
        .unwrap();
    gives::<Option<u32>, _>(&during);
    nodes(
        &during,
        &expect![[r#"
        {"id":"poll","kind":"loop","body":{"nodes":[{"id":"ask","kind":"step","function":"ask"}]},"test":{"while":"is_open"},"maxIterations":7}
    "#]],
    );
}

#[test]
fn a_for_each_runs_for_every_item() {
    let workflow = Workflow::new("w")
        .for_each("charge all", orders, |e| {
            e.body(|b| b.step(charge.compensate(refund.retry(5).timeout(Duration::from_secs(2)))))
                .concurrency(8)
                .max_iterations(1_000)
        })
        .build()
        .unwrap();
    gives::<Vec<u32>, _>(&workflow);
    nodes(
        &workflow,
        &expect![[r#"
        {"id":"charge all","kind":"forEach","items":"orders","body":{"nodes":[{"id":"charge","kind":"step","function":"charge","compensate":{"function":"refund","maxAttempts":5,"timeoutMs":2000}}]},"concurrency":8,"maxIterations":1000}
    "#]],
    );
    let needs = workflow.definition().functions["charge"].needs().clone();
    assert!(needs.iteration && !needs.items);
}

#[test]
fn everything_nests_in_everything() {
    fn all<K>(
        b: rival::BlockBuilder<K, ()>,
        inner: impl Fn(Block<()>) -> Block<u32>,
    ) -> rival::BlockBuilder<K, u32> {
        b.parallel("p", |p| p.branch("l", &inner))
            .branch("c", || async { Ok::<_, StepError>(true) }, |c| c.then(&inner))
            .repeat("r", |l| l.body(&inner).until(|| async { Ok::<_, StepError>(true) }))
            .for_each("e", || async { Ok::<_, StepError>(vec![1]) }, |e| e.body(&inner))
            .step(one)
    }
    let workflow = all(Workflow::new("w"), |b| all(b, |b| all(b, |b| b.step(two)))).build().unwrap();
    assert_eq!(workflow.plan().step_count(), 64 + 1 + 4 + 16);
    assert_eq!(workflow.definition().functions.len(), 2 + 3 * (1 + 4 + 16), "each closure has its own name");
    assert!(workflow.definition().functions.contains_key("c/then/r/e[items]"));
}

#[test]
fn closures_inside_are_named_after_their_place() {
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branches(["a", "b"], |name, b| {
                let name = name.to_owned();
                b.step((move || Ok::<_, StepError>(name.clone())).named("say"))
            })
        })
        .build()
        .unwrap();
    let functions = workflow.definition().functions;
    assert_eq!(functions.keys().collect::<Vec<_>>(), ["p/a/say", "p/b/say"]);
}

#[test]
fn ten_thousand_branches_are_built() {
    let names = (0..10_000).map(|n| format!("b{n}"));
    let workflow =
        Workflow::new("w").step(one).parallel("p", |p| p.branches(names, |_, b| b.step(one).step(two)));
    assert_eq!(workflow.build().unwrap().plan().step_count(), 20_001);
}

#[test]
fn the_data_flow_leads_into_blocks() {
    #[step]
    async fn use_one(one: Output<one>) -> Result<u32, StepError> {
        Ok(*one)
    }
    let workflow =
        Workflow::new("w").step(one).parallel("p", |p| p.branch("b", |b| b.step(two).step(use_one))).build();
    assert_eq!(workflow.unwrap().edges(), [("one".to_owned(), "p/b/use_one".to_owned())]);
}

#[tokio::test]
async fn functions_of_blocks_are_functions() -> Result<(), StepError> {
    assert_eq!(charge(Item(5), Iteration::test(2)).await?, 7);
    assert_eq!(count(Joined::default().with("a", 1).with("b", "x")).await?, 2);
    assert_eq!(ask(LastIteration(Some(4))).await?, 5);
    refund(Undo::completed(3)).await?;
    refund(Undo::unknown()).await
}

#[test]
fn what_was_joined_keeps_its_order_and_its_failures() {
    let text = r#"{"z":1,"a":"x","bad":{"$failed":{"code":"c","message":"m","step":"p/bad/s"}}}"#;
    let joined: Joined = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&joined).unwrap(), text);
    assert_eq!(joined.names().collect::<Vec<_>>(), ["z", "a", "bad"]);
    assert_eq!(joined.get::<u32>("z").unwrap(), 1);
    assert_eq!(joined.failure("bad").unwrap().step, "p/bad/s");
    assert_eq!(joined.failure("z"), None);
    let error = joined.get::<u32>("bad").unwrap_err();
    assert_eq!(
        (error.failure.code.as_str(), error.failure.message.as_str()),
        ("c", "branch `bad` failed: m")
    );
    assert_eq!(
        joined.get::<u32>("q").unwrap_err().failure.message,
        "no branch `q` was joined; there are: `z`, `a`, `bad`"
    );
    assert_eq!(joined.iter::<serde_json::Value>().filter(|(_, value)| value.is_ok()).count(), 2);
}
