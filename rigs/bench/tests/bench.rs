//! The benchmarks at their smallest, to see that they run. Figures of a busy machine say nothing.

use std::process::Command;

#[test]
fn the_benchmarks_run() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("figures/bench.json");
    let output = Command::new(env!("CARGO_BIN_EXE_rival-bench"))
        .args(["--smoke", "--json"])
        .arg(&json)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let figures = std::fs::read_to_string(json).unwrap();
    for name in [
        "throughput_ratio",
        "sleeping_run_bytes",
        "late_step_cost_ratio",
        "http_ratio",
        "sse_memory_ratio",
        "waiting_clients_s",
        "waiting_server_mib",
    ] {
        assert!(printed.contains(name) && figures.contains(name), "{name} is missing:\n{printed}");
    }
}
