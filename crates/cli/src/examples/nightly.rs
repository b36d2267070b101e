//! A batch in pages: a loop asks for the next page, a forEach works on its items, a branch looks at the sum.

use std::time::Duration;

use rival::prelude::*;
use serde::{Deserialize, Serialize};

const INVOICES: [u32; 7] = [120, 80, 0, 45, 300, 10, 95];

#[derive(Serialize, Deserialize)]
struct RowPage {
    invoices: Vec<u32>,
    next: Option<usize>,
}

/// What an iteration gives: how far the batch is, for the next one and for the loop's test.
#[derive(Serialize, Deserialize)]
struct Progress {
    next: Option<usize>,
    sent: u32,
    sum: u32,
}

#[step]
async fn fetch_page(LastIteration(last): LastIteration<Progress>) -> Result<RowPage, StepError> {
    let from = last.and_then(|last| last.next).unwrap_or(0);
    let end = (from + 3).min(INVOICES.len());
    Ok(RowPage { invoices: INVOICES[from..end].to_vec(), next: (end < INVOICES.len()).then_some(end) })
}

#[step]
async fn invoices(page: Output<fetch_page>) -> Result<Vec<u32>, StepError> {
    Ok(page.invoices.clone())
}

/// One invoice that cannot be sent does not stop the batch: the step fails softly.
#[step]
async fn send(Item(amount): Item<u32>, iteration: Iteration, log: Log) -> Result<u32, StepError> {
    if amount == 0 {
        return Err(StepError::proceed("an empty invoice"));
    }
    log.info((), format_args!("invoice {} of the page: {amount}", iteration.index() + 1));
    Ok(amount)
}

#[step]
async fn add_up(
    page: Output<fetch_page>,
    LastIteration(last): LastIteration<Progress>,
    steps: Steps,
) -> Result<Progress, StepError> {
    let (sent, sum) = last.map_or((0, 0), |last| (last.sent, last.sum));
    let amounts: Vec<Option<u32>> = steps.get("send_all").await?;
    let amounts: Vec<u32> = amounts.into_iter().flatten().collect();
    let count = u32::try_from(amounts.len())?;
    Ok(Progress { next: page.next, sent: sent + count, sum: sum + amounts.iter().sum::<u32>() })
}

#[step]
async fn is_last_page(progress: Output<add_up>) -> Result<bool, StepError> {
    Ok(progress.next.is_none())
}

#[step]
async fn is_large(steps: Steps) -> Result<bool, StepError> {
    Ok(steps.get::<Progress>("pages").await?.sum > 500)
}

#[step]
async fn report(steps: Steps) -> Result<String, StepError> {
    let done: Progress = steps.get("pages").await?;
    Ok(format!("{} invoices, {} in all", done.sent, done.sum))
}

#[step]
async fn tell_the_boss(report: Output<report>) -> Result<String, StepError> {
    Ok(format!("dear boss: {}", *report))
}

pub(super) fn workflow(pace: Duration) -> Result<Workflow<(), Option<String>>, rival::BuildErrors> {
    Workflow::new("nightly")
        .description("A batch in pages: a loop, a forEach and a branch")
        .repeat("pages", |l| {
            l.body(|b| {
                b.step(delay_step(pace * 5).named("breathe"))
                    .step(fetch_page.retry(3))
                    .for_each("send_all", invoices, |e| e.body(|b| b.step(send)).concurrency(2))
                    .step(add_up)
            })
            .until(is_last_page)
            .max_iterations(100)
        })
        .step(report)
        .branch("size", is_large, |c| c.then(|b| b.step(tell_the_boss)))
        .build()
}
