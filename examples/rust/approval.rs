//! An expense that needs an approval: the run waits for a signal, holding no memory, for at most a day. If the
//! approver does not answer, that is a value here, not a failure.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Expense {
    who: String,
    amount: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    by: String,
    granted: bool,
}

#[step]
async fn ask(Input(expense): Input<Expense>, log: Log) -> Result<(), StepError> {
    log.info((), format_args!("{} asks for {}", expense.who, expense.amount));
    Ok(())
}

#[step]
async fn decide(Input(expense): Input<Expense>, answer: LastStep) -> Result<String, StepError> {
    let answer: Option<Approval> = answer.get()?;
    Ok(match answer {
        Some(Approval { by, granted: true }) => {
            format!("{} is paid {}, says {by}", expense.who, expense.amount)
        }
        Some(Approval { by, granted: false }) => format!("{} is paid nothing, says {by}", expense.who),
        None => format!("{} is paid nothing: nobody answered", expense.who),
    })
}

fn workflow() -> Result<Workflow<Expense, String>, rival::BuildErrors> {
    Workflow::new("expense")
        .input::<Expense>()
        .step(ask)
        .step(signal::<Approval>("approval").timeout_value(Duration::from_secs(24 * 3_600)))
        .step(decide)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let run = engine.run(&workflow, Expense { who: "Ann".into(), amount: 30 }).await?;

    // The engine refuses a payload of another type.
    if let Err(refused) = run.signal("approval", "yes").await {
        println!("{}", refused.code());
    }

    // The id makes it safe to send it again if one does not know whether it arrived: it counts once.
    run.signal("approval", Approval { by: "Bo".into(), granted: true }).id("mail-17").await?;
    println!("{}", run.output().await?);

    if let Err(late) = run.signal("approval", Approval { by: "Cy".into(), granted: false }).await {
        println!("{}", late.code());
    }
    Ok(())
}

#[tokio::test]
async fn a_day_without_an_answer_passes_at_once_in_a_test() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = rival::testing::TestEngine::builder().workflow(&workflow).build().await?;
    let run = engine.run(&workflow, Expense { who: "Ann".into(), amount: 30 }).await?;
    engine.finish(run.id()).await?;
    assert_eq!(run.output().await?, "Ann is paid nothing: nobody answered");
    Ok(())
}
