//! A trip whose last booking fails: what was booked before is undone, the latest first.

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Trip { to: "Lisbon".into(), budget: 100 })]
pub(super) struct Trip {
    to: String,
    budget: u32,
}

#[step]
async fn book_flight(Input(trip): Input<Trip>, state: State) -> Result<String, StepError> {
    state.describe(format!("a flight to {}", trip.to));
    Ok("F-1".into())
}

#[step]
async fn cancel_flight(undo: Undo<String>, log: Log) -> Result<(), StepError> {
    log.info((), format_args!("giving back flight {}", undo.result.as_deref().unwrap_or("-")));
    Ok(())
}

#[step]
async fn book_hotel(Input(trip): Input<Trip>, state: State) -> Result<String, StepError> {
    state.describe(format!("a room in {}", trip.to));
    Ok("H-2".into())
}

#[step]
async fn cancel_hotel(undo: Undo<String>, log: Log) -> Result<(), StepError> {
    log.info((), format_args!("giving back room {}", undo.result.as_deref().unwrap_or("-")));
    Ok(())
}

#[step]
async fn pay(Input(trip): Input<Trip>) -> Result<u32, StepError> {
    if trip.budget < 500 {
        return Err(StepError::stop(format!("{} is not enough", trip.budget)).code("too_poor"));
    }
    Ok(500)
}

pub(super) fn workflow() -> Result<Workflow<Trip, u32>, rival::BuildErrors> {
    Workflow::new("saga")
        .description("A trip; with a budget below 500 it fails, and its bookings are undone")
        .input::<Trip>()
        .step(book_flight.compensate(cancel_flight))
        .step(book_hotel.compensate(cancel_hotel.retry(5)))
        .step(pay)
        .build()
}
