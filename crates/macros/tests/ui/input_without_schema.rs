// An input that cannot be described.
use rival::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Order {
    id: u32,
}

fn main() {
    let _ = Workflow::new("w").input::<Order>();
}
