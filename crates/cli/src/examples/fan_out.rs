//! Work that is spread over many runs: a step starts a child for each page, four at a time.

use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Book { title: "Walden".into(), pages: 12 })]
pub(super) struct Book {
    title: String,
    pages: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Page { number: 7 })]
pub(super) struct Page {
    number: u32,
}

/// What a child does.
#[step]
async fn count_words(Input(page): Input<Page>) -> Result<u32, StepError> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(100 + page.number % 3)
}

/// The parent: called again from here after a crash, it is given the children that it had started.
#[step]
async fn count_all(Input(book): Input<Book>, durable: Durable, state: State) -> Result<u32, StepError> {
    let pages = (1..=book.pages).map(|number| Page { number });
    let mut words = 0;
    for page in durable.map(pages, "count_page").concurrency(4).collect().await? {
        words += page?.decode::<u32>()?;
    }
    state.describe(format!("{} has {words} words", book.title));
    Ok(words)
}

pub(super) fn page() -> Result<Workflow<Page, u32>, rival::BuildErrors> {
    Workflow::new("count_page")
        .description("One page of a book; fan_out starts these")
        .input::<Page>()
        .step(count_words)
        .build()
}

pub(super) fn workflow() -> Result<Workflow<Book, u32>, rival::BuildErrors> {
    Workflow::new("fan_out")
        .description("A run for every page of a book, four at a time")
        .input::<Book>()
        .step(count_all)
        .build()
}
