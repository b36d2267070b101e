#![allow(clippy::print_stdout, missing_docs, reason = "an example shows its result")]

use std::time::Duration;

use rival::SqliteStore;
use rival::prelude::*;

#[step]
async fn find_tree(Input(order): Input<u32>, log: Log) -> Result<String, StepError> {
    log.info((), format_args!("looking for a tree for order {order}"));
    Ok("oak".into())
}

#[step]
async fn chop_tree(tree: Output<find_tree>) -> Result<usize, StepError> {
    Ok(tree.len() * 4)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trees = Workflow::new("trees")
        .input::<u32>()
        .step(find_tree)
        .step(delay_step(Duration::from_secs(2)))
        .step(chop_tree.retry(3))
        .build()?;
    let engine = Engine::builder().store(SqliteStore::open("rival.db")?).workflow(&trees).build().await?;
    let run = engine.run(&trees, 7).id("order-7").await?;
    println!("order 7: {} logs", run.output().await?);
    Ok(())
}
