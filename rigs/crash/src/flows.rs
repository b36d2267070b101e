//! The workflows that are cut short.

use std::time::Duration;

use rival::prelude::*;
use rival::{BuildErrors, Definition};

use crate::steps::{
    Part, Ticket, Word, chatty, doomed, enough, first, flaky, fourth, go_left, heavy, how_long, inner,
    inner_look, inner_slow, look_back, mourn, only_once, part_of, polite, second, skipping, slow, soft,
    third, trees, undo, undo_slowly,
};

/// Waits for words that only clients from outside send, so it is none of [`FLOWS`].
pub const LISTENING: &str = "listening";

/// What many clients ask for signals, cancels and kills at once; none of [`FLOWS`] either.
pub const CROWDED: &str = "crowded";

/// Their names; the number in a ticket chooses one.
pub const FLOWS: [&str; 13] = [
    "plain", "flaky", "sleeping", "napping", "nesting", "slow", "soft", "talking", "once", "doomed",
    "fanning", "undoing", "racing",
];

/// All of them.
pub fn definitions() -> Result<Vec<Definition>, BuildErrors> {
    Ok(vec![
        plain()?,
        flaky_trees()?,
        sleeping()?,
        napping()?,
        nesting()?,
        slow_trees()?,
        soft_trees()?,
        talking()?,
        once()?,
        doomed_trees()?,
        fanning()?,
        undoing()?,
        racing()?,
        listening()?,
        crowded()?,
        companion()?,
    ])
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn plain() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("plain").input::<Ticket>();
    Ok(flow.steps((first, second, third, fourth, look_back)).build()?.into())
}

fn flaky_trees() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("flaky").input::<Ticket>().max_retries(1).on_error(mourn);
    let trying = flaky.retry(4).backoff(BackoffKind::Linear, ms(4)).on_error(mourn);
    Ok(flow.step(first).step(trying).step(look_back).build()?.into())
}

fn sleeping() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("sleeping").input::<Ticket>().step(first).step(delay_step(ms(25)));
    Ok(flow.step(second).step(delay_by(how_long)).step(look_back).build()?.into())
}

/// Sleeps long enough to leave memory.
fn napping() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("napping").input::<Ticket>().step(first).step(delay_step(ms(1_200)));
    Ok(flow.step(look_back).build()?.into())
}

fn nesting() -> Result<Definition, BuildErrors> {
    let part = Workflow::new("part").input::<Part>().step(inner).step(inner_slow.retry(2)).build()?;
    let flow = Workflow::new("nesting").input::<Ticket>().on_error(mourn).step(first);
    Ok(flow.workflow_with(&part, part_of).step(look_back).build()?.into())
}

fn slow_trees() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("slow").input::<Ticket>().timeout(Duration::from_secs(20)).step(first);
    let slow = slow.timeout(ms(20)).on_timeout_retry().retry(3).backoff(BackoffKind::Linear, ms(2));
    let polite = polite.timeout(ms(15)).continue_on_error().on_error(mourn);
    Ok(flow.step(slow).step(polite).step(heavy).step(look_back).build()?.into())
}

fn soft_trees() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("soft").input::<Ticket>().steps((first, soft.on_error(mourn), skipping));
    Ok(flow.step(look_back).build()?.into())
}

fn talking() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("talking").input::<Ticket>();
    Ok(flow.steps((first, chatty, heavy, look_back)).build()?.into())
}

fn once() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("once").input::<Ticket>().step(first).step(only_once.at_most_once());
    Ok(flow.step(look_back).build()?.into())
}

fn doomed_trees() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("doomed").input::<Ticket>().steps((first, doomed));
    Ok(flow.step(look_back).build()?.into())
}

/// Blocks of every kind, one inside of the other.
fn fanning() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("fanning").input::<Ticket>().on_error(mourn).step(first);
    let flow = flow.parallel("sides", |p| {
        p.branch("left", |b| b.step(second).step(delay_step(ms(8))).step(heavy))
            .branch("right", |b| {
                b.for_each("each", trees, |e| e.body(|b| b.steps((third, inner_look))).concurrency(2))
            })
            .branch("round", |b| {
                b.repeat("rounds", |l| l.body(|b| b.step(slow)).until(enough).max_iterations(5))
            })
    });
    let flow =
        flow.branch("way", go_left, |c| c.then(|b| b.step(flaky.retry(3))).otherwise(|b| b.step(soft)));
    Ok(flow.step(look_back).build()?.into())
}

/// Steps that are undone, half of the time.
fn undoing() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("undoing").input::<Ticket>().on_error(mourn).step(first.compensate(undo));
    let flow = flow.parallel("both", |p| {
        p.branch("left", |b| b.step(second.compensate(undo_slowly)))
            .branch("right", |b| b.step(slow.timeout(ms(20)).compensate(undo)).step(third))
    });
    Ok(flow.step(flaky.retry(2).backoff(BackoffKind::Linear, ms(3))).step(look_back).build()?.into())
}

fn listening() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new(LISTENING).input::<Ticket>().step(first).step(signal::<Word>("word"));
    Ok(flow.step(chatty).step(signal::<Word>("word").named("again")).step(look_back).build()?.into())
}

/// Waits for two words, for a sleep that ends at about the time at which they come, and for a child.
fn crowded() -> Result<Definition, BuildErrors> {
    let companion = companion_flow()?;
    let accompany = move |durable: Durable| {
        let companion = companion.clone();
        async move { durable.run(&companion, Ticket::new(0)).await }
    };
    let flow = Workflow::new(CROWDED).input::<Ticket>().parallel("all", |p| {
        p.branch("one", |b| b.step(signal::<Word>("word")))
            .branch("other", |b| b.step(signal::<Word>("word")))
            .branch("nap", |b| b.step(delay_step(ms(20))))
            .branch("child", |b| b.step(accompany.named("accompany")))
    });
    Ok(flow.build()?.into())
}

fn companion_flow() -> Result<Workflow<Ticket, u64>, BuildErrors> {
    let number = |Input(ticket): Input<Ticket>| async move { Ok::<_, StepError>(ticket.number) };
    let flow = Workflow::new("companion").input::<Ticket>().step(delay_step(ms(25)));
    flow.step(number.named("number")).build()
}

fn companion() -> Result<Definition, BuildErrors> {
    Ok(companion_flow()?.into())
}

/// Branches that lose, and are undone while the run goes on.
fn racing() -> Result<Definition, BuildErrors> {
    let flow = Workflow::new("racing").input::<Ticket>().step(first).parallel("race", |p| {
        p.branch("hare", |b| b.step(second.compensate(undo)).step(slow).step(heavy))
            .branch("tortoise", |b| b.step(delay_step(ms(12))).step(third))
            .branch("fox", |b| b.step(polite).step(doomed))
            .join(rival::Join::First)
    });
    Ok(flow.step(look_back).build()?.into())
}
