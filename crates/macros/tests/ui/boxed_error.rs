// A boxed error that cannot move between threads.
use rival::prelude::*;

#[step]
fn saw() -> Result<u32, Box<dyn std::error::Error>> {
    Ok("7".parse()?)
}

fn main() {}
