//! A script host and nothing else, for programs that cannot be their own: see `Hosting::Program`.

use std::process::ExitCode;

#[expect(clippy::print_stderr, reason = "somebody started it by hand")]
fn main() -> ExitCode {
    rival_script::main_if_asked();
    eprintln!("this is a part of Rival that other programs start; use `rival` instead");
    ExitCode::from(2)
}
