//! A process that is confined as hosts are, and what it can still do.

#![cfg(target_os = "linux")]

use std::process::Command;

use rival_script_host::frame::HostConfinement;

use crate::lab::PROGRAM;

const ALWAYS: &[&str] = &[
    "run a program",
    "write a file",
    "change a file",
    "remove a file",
    "rename a file",
    "make a folder",
    "take connections",
    "reach a local socket",
    "kill its parent",
    "become another user",
];
/// Only Landlock can tell files apart that are read.
const WITH_LANDLOCK: &[&str] = &["read a file", "list a folder"];

#[test]
fn a_host_reaches_nothing_but_the_network() {
    let file = std::env::temp_dir().join(format!("rival-confine-{}", std::process::id()));
    std::fs::write(&file, "secret").unwrap();
    let output = Command::new(PROGRAM).env("TRY_WHAT_HOSTS_MAY_NOT", &file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let confinement: HostConfinement = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert!(confinement.in_force.iter().any(|part| part.contains("seccomp")), "{confinement:?}");
    for what in ALWAYS {
        assert!(said.contains(&format!("{what}: refused")), "{what}\n{said}");
    }
    if confinement.in_force.iter().any(|part| part.contains("Landlock")) {
        for what in WITH_LANDLOCK {
            assert!(said.contains(&format!("{what}: refused")), "{what}\n{said}");
        }
    }
    assert!(said.contains("threads, sockets, names: true"), "{said}");
}
