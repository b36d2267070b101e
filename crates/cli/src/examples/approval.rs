//! An expense that a person has to approve: the run waits for a signal, for at most an hour. If no signal comes,
//! the expense is not paid.

use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Expense { who: "Ann".into(), amount: 30 })]
pub(super) struct Expense {
    who: String,
    amount: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Approval { by: "Bo".into(), granted: true })]
struct Approval {
    by: String,
    granted: bool,
}

#[step]
async fn ask(Input(expense): Input<Expense>, log: Log, state: State) -> Result<(), StepError> {
    log.info((), format_args!("{} asks for {}", expense.who, expense.amount));
    state.describe("asked; `rival signal <run> approval` answers");
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

pub(super) fn workflow() -> Result<Workflow<Expense, String>, rival::BuildErrors> {
    Workflow::new("approval")
        .description("An expense that waits for a signal: somebody's approval")
        .input::<Expense>()
        .step(ask)
        .step(signal::<Approval>("approval").timeout_value(Duration::from_secs(3_600)))
        .step(decide)
        .build()
}
