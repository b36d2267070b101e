//! The example programs: each is executed, and what it prints is checked.
#![allow(dead_code, reason = "each `main` is executed as the program that it is")]

use std::path::{Path, PathBuf};
use std::process::Command;

// For the tests that they have themselves.
#[path = "../../../../examples/rust/approval.rs"]
mod approval;
#[path = "../../../../examples/rust/batch_loop.rs"]
mod batch_loop;
#[path = "../../../../examples/rust/dynamic.rs"]
mod dynamic;
#[path = "../../../../examples/rust/fan_out.rs"]
mod fan_out;
#[path = "../../../../examples/rust/handlers.rs"]
mod handlers;
#[path = "../../../../examples/rust/nested.rs"]
mod nested;
#[path = "../../../../examples/rust/order_saga.rs"]
mod order_saga;
#[path = "../../../../examples/rust/resources.rs"]
mod resources;
#[path = "../../../../examples/rust/retries.rs"]
mod retries;
#[path = "../../../../examples/rust/sleep.rs"]
mod sleep;
#[path = "../../../../examples/rust/trees.rs"]
mod trees;
#[path = "../../../../examples/rust/typed_dag.rs"]
mod typed_dag;

macro_rules! examples {
    ($($name:ident: $prints:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), $prints);
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    approval: &["invalid_signal", "Ann is paid 30, says Bo", "run_finished"];
    batch_loop: &[
        "dear boss: 6 invoices, 650 in all",
        "pages[0]/send all[0]/send completed",
        "pages[0]/send all[1]/send completed",
        "pages[0]/send all[2]/send failed",
        "pages[1]/send all[0]/send completed",
        "pages[1]/send all[1]/send completed",
        "pages[1]/send all[2]/send completed",
        "pages[2]/send all[0]/send completed",
    ];
    dynamic: &[
        r#"parse     completed {"trees":0}"#,
        r#"report    completed "parse is completed with {\"trees\":0}""#,
        "fell      skipped   0",
        r#"report_2  completed "fell is skipped with 0""#,
        "compare   completed false",
    ];
    fan_out: &[
        "4950 words",
        "50 children, the first is walden~c1",
        "walden~c13: child run `walden~c13` failed at `count_words`: the page is torn out",
    ];
    handlers: &[
        "failed: the truck is full",
        "Warn: unloading 3 of 5 logs: the truck is full",
        "Error: run <id> failed at load_truck with 5 logs reserved",
    ];
    http: &["take an umbrella", "http: GET /weather -> 200 (<ms> ms)", "pack: -"];
    nested: &["Ada pays for 100 kg to Ada"];
    order_saga: &[
        "Ada: completed",
        "  reserved 2 logs",
        "  charged 50 to Ada",
        "  shipped to Ada",
        "Ben: failed: there is no road to Ben",
        "  reserved 2 logs",
        "  charged 50 to Ben",
        "  refunded 50 of p-1",
        "  released 2 logs",
    ];
    readme: &["order 7: 12 logs"];
    resources: &["Ada owes 25", "Ada owes 50", "Ben owes 25"];
    retries: &[
        "42 planks, without a postcard",
        "read_gauge    completed attempts: 3 (invalid digit found in string)",
        "call_sawmill  completed attempts: 2 (the sawmill is closed)",
        "check_planks  completed attempts: 1",
        "send_postcard failed    attempts: 1 (out of stamps)",
        "delay         completed attempts: 1",
        "sum_up        completed attempts: 1",
    ];
    sleep: &["Assam is ready", "it took its time: true"];
    trees: &["order 7: 6 logs"];
    typed_dag: &[
        "flowchart TD",
        r#"n0["validate"]"#,
        r#"n1["check_fraud"]"#,
        r#"n2["check_stock"]"#,
        r#"n3["charge"]"#,
        r#"n4["ship"]"#,
        r#"n5["close"]"#,
        "n0 --> n1",
        "n0 --> n2",
        "n1 --> n3",
        "n2 --> n3",
        "n3 --> n4",
        "n3 --> n5",
        "n4 --> n5",
        "shipped to Ada, paid 125",
    ];
}

fn check(name: &str, expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(printed(name, dir.path()), expected);
    // Again in the same folder: a run that has ended gives the same.
    if name == "readme" {
        assert_eq!(printed(name, dir.path()), expected);
    }
}

/// What an example prints, with times made equal.
fn printed(name: &str, dir: &Path) -> Vec<String> {
    let output = Command::new(program(name)).current_dir(dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().map(|line| match line.rsplit_once(" (") {
        Some((before, after)) if after.ends_with(" ms)") => format!("{before} (<ms> ms)"),
        _ => line.to_owned(),
    });
    lines.collect()
}

/// The program that cargo has built beside this test. It does so unless it was told to build this test only.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let built = std::fs::metadata(&program).and_then(|file| file.modified()).ok();
    let written = std::fs::metadata(folder().join(name).with_extension("rs")).unwrap().modified().unwrap();
    let fresh = built.is_some_and(|built| built > written);
    assert!(fresh, "`{}` is missing or old: run `cargo build -p rival --examples` first", program.display());
    program
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust")
}

#[test]
fn every_example_is_executed() {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    assert_eq!(files, NAMES);
}

#[test]
fn the_readme_shows_its_example() {
    let readme = std::fs::read_to_string(folder().join("../../README.md")).unwrap();
    let program = std::fs::read_to_string(folder().join("readme.rs")).unwrap();
    let program = program.lines().filter(|line| !line.starts_with("#![allow"));
    let program = program.collect::<Vec<_>>().join("\n");
    assert!(readme.contains(program.trim()), "README.md and examples/rust/readme.rs differ");
}
