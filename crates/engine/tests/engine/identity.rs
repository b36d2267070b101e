//! Programs that change while runs are under way: a call never goes to another function than the one that stood there
//! when the run began.

use rival::prelude::*;
use rival::{Definition, RunStatus, TypedStep};

use crate::lab::{Lab, facts};
use crate::steps::{Tape, output};

facts![
    a_ready_made_step_is_found_wherever_it_stands,
    a_ready_made_step_that_is_gone_blocks_the_run,
    functions_of_one_name_do_not_take_each_others_place,
    a_run_of_version_0_1_goes_on_with_the_same_workflow,
    a_run_of_version_0_1_is_blocked_if_the_workflow_has_changed,
];

mod one {
    use rival::prelude::*;

    pub(super) async fn act() -> Result<u32, StepError> {
        Ok(1)
    }
}

mod two {
    use rival::prelude::*;

    pub(super) async fn act() -> Result<u32, StepError> {
        Ok(2)
    }
}

/// A ready-made step: a closure that says what it holds.
fn says(tape: &Tape, what: &'static str) -> TypedStep<String> {
    let tape = tape.clone();
    let step = move || {
        tape.note(what);
        async move { Ok::<_, StepError>(what.to_owned()) }
    };
    step.default_name("says", &what)
}

async fn first() -> Result<String, StepError> {
    Ok(String::new())
}

/// Steps behind a signal.
fn behind(steps: Vec<TypedStep<String>>) -> Definition {
    let mut workflow = Workflow::new("w").step(signal::<()>("go")).step(first);
    for step in steps {
        workflow = workflow.step(step);
    }
    workflow.build().unwrap().into()
}

/// Starts a run of the workflow in one life of the process.
async fn begin(lab: &Lab, workflow: impl Into<Definition>) {
    lab.life_of(workflow, |engine| async move {
        engine.run("w", ()).id("r").await.unwrap();
        engine.come_to_rest().await.unwrap();
    })
    .await;
}

/// Lets it go on in another; gives where it stands, and what is said of it.
async fn go_on(lab: &Lab, workflow: impl Into<Definition>) -> (RunStatus, String) {
    lab.life_of(workflow, |engine| async move {
        engine.signal(&"r".into(), "go", ()).await.unwrap();
        engine.come_to_rest().await.unwrap();
        let view = engine.get(&"r".into()).await.unwrap();
        (view.status, view.note.unwrap_or_default())
    })
    .await
}

async fn a_ready_made_step_is_found_wherever_it_stands(lab: Lab) {
    let tape = Tape::default();
    begin(&lab, behind(vec![says(&tape, "charge")])).await;
    let (status, _) = go_on(&lab, behind(vec![says(&tape, "reserve"), says(&tape, "charge")])).await;
    assert_eq!(status, RunStatus::Completed);
    assert_eq!((tape.count("charge"), tape.count("reserve")), (1, 0));
}

async fn a_ready_made_step_that_is_gone_blocks_the_run(lab: Lab) {
    let tape = Tape::default();
    begin(&lab, behind(vec![says(&tape, "charge")])).await;
    let (status, note) = go_on(&lab, behind(vec![says(&tape, "reserve")])).await;
    assert_eq!(status, RunStatus::Blocked);
    assert!(note.contains("`says` needs a function that has no name of its own"), "{note}");
    assert_eq!((tape.count("charge"), tape.count("reserve")), (0, 0));
}

/// In version 0.1 the first of two had the short name, so that another order called another function.
async fn functions_of_one_name_do_not_take_each_others_place(lab: Lab) {
    let start = || Workflow::new("w").step(signal::<()>("go"));
    let before = start().step(two::act.named("b")).step(one::act.named("a")).build().unwrap();
    begin(&lab, &before).await;
    let after = start().step(one::act.named("a")).step(two::act.named("b")).build().unwrap();
    let outcome = lab
        .life_of(&after, |engine| async move {
            engine.signal(&"r".into(), "go", ()).await.unwrap();
            engine.finish(&"r".into()).await.unwrap()
        })
        .await;
    assert_eq!(output(&outcome), serde_json::json!(1));
}

/// The definition as version 0.1 had it.
fn of_version_0_1(definition: Definition) -> Definition {
    let former = definition.former.clone().expect("it differs");
    let functions = former.functions.iter();
    let functions = functions.map(|(before, now)| (before.clone(), definition.functions[now].clone()));
    let functions: std::collections::BTreeMap<_, _> = functions.collect();
    let mut text = definition.plan.to_json();
    for (before, now) in &former.functions {
        text = text.replacen(&format!("\"function\":\"{now}\""), &format!("\"function\":\"{before}\""), 1);
    }
    let plan = rival_core::Plan::from_json(&text).unwrap();
    assert_eq!(plan.hash(), former.hash);
    Definition { plan, functions, former: None, ..definition }
}

async fn a_run_of_version_0_1_goes_on_with_the_same_workflow(lab: Lab) {
    let tape = Tape::default();
    let now = || behind(vec![says(&tape, "reserve"), says(&tape, "charge"), says(&tape, "charge")]);
    begin(&lab, of_version_0_1(now())).await;
    assert_eq!(go_on(&lab, now()).await.0, RunStatus::Completed);
    assert_eq!((tape.count("reserve"), tape.count("charge")), (1, 2));
}

async fn a_run_of_version_0_1_is_blocked_if_the_workflow_has_changed(lab: Lab) {
    let tape = Tape::default();
    begin(&lab, of_version_0_1(behind(vec![says(&tape, "charge")]))).await;
    let after = behind(vec![says(&tape, "reserve"), says(&tape, "charge")]);
    assert_eq!(go_on(&lab, after).await.0, RunStatus::Blocked);
    assert_eq!((tape.count("reserve"), tape.count("charge")), (0, 0));
}
