//! Work that is spread over many runs: a step starts a child for each page, ten at a time, and puts their outputs
//! together. Each child is a run of its own; if the process dies, only those go on that had not ended.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use rival::prelude::*;
use rival::{ChildFailure, RunFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Book {
    title: String,
    pages: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    number: u32,
}

/// What a child does.
#[step]
async fn count_words(Input(page): Input<Page>) -> Result<u32, StepError> {
    match page.number {
        13 => Err(StepError::stop("the page is torn out")),
        number => Ok(100 + number % 3),
    }
}

/// The parent: called again from here after a crash, it is given the children that it had started.
#[step]
async fn count_all(Input(book): Input<Book>, durable: Durable, log: Log) -> Result<u32, StepError> {
    let pages = (1..=book.pages).map(|number| Page { number });
    let counted = durable.map(pages, "page").concurrency(10).collect().await?;
    let mut words = 0;
    for page in counted {
        match page {
            Ok(count) => words += count.decode::<u32>()?,
            Err(error) => {
                let failure = ChildFailure::of(&error);
                let child = failure.map_or_else(String::new, |failure| failure.child.to_string());
                log.warn((), format_args!("{child}: {error}"));
            }
        }
    }
    // A side effect that is not repeated when this function is called again.
    durable.once("publish", || async { Ok::<_, StepError>(()) }).await?;
    Ok(words)
}

fn page() -> Result<Workflow<Page, u32>, rival::BuildErrors> {
    Workflow::new("page").input::<Page>().step(count_words).build()
}

fn book() -> Result<Workflow<Book, u32>, rival::BuildErrors> {
    Workflow::new("book").input::<Book>().step(count_all).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (page, book) = (page()?, book()?);
    let engine = Engine::builder().workflow(&page).workflow(&book).build().await?;
    let run = engine.run(&book, Book { title: "Walden".into(), pages: 50 }).id("walden").await?;
    println!("{} words", run.output().await?);

    let children = RunFilter { parent: Some(run.id().clone()), ..RunFilter::default() };
    let children = engine.runs(&children, &rival::Page::default()).await?;
    println!("{} children, the first is {}", children.len(), children[49].id);
    for line in engine.logs(run.id(), &rival::LogFilter::default()).await? {
        println!("{}", line.message);
    }
    Ok(())
}

#[tokio::test]
async fn a_child_can_be_replaced_in_a_test() -> Result<(), Box<dyn std::error::Error>> {
    let (page, book) = (page()?, book()?);
    let ten = rival::testing::Mock::returning(10);
    let engine = rival::testing::TestEngine::builder()
        .workflow(&page)
        .workflow(&book)
        .mock("count_words", &ten)
        .build()
        .await?;
    let run = engine.run(&book, Book { title: "Walden".into(), pages: 50 }).await?;
    engine.finish(run.id()).await?;
    assert_eq!((run.output().await?, ten.calls()), (500, 50));
    Ok(())
}
