//! The files in deploy/ and what docs/operate.md says of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::Lab;

fn read(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(path).unwrap()
}

/// Settings that a file gives as variables: `RIVAL_STORE=/data/rival.db`.
fn variables(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| line.starts_with("Environment=") || line.starts_with("ENV "));
    let words =
        lines.flat_map(|line| line.split([' ', '\t'])).map(|word| word.trim_start_matches("Environment="));
    words.filter_map(|word| word.split_once('=')).filter(|(name, _)| name.starts_with("RIVAL_")).collect()
}

#[test]
fn the_settings_of_the_files_in_deploy_are_settings() {
    for file in ["deploy/rival.service", "deploy/Dockerfile"] {
        let text = read(file);
        let variables = variables(&text);
        assert!(variables.iter().any(|(name, _)| *name == "RIVAL_STORE"), "{file}: {variables:?}");
        let lab = Lab::offline();
        let mut command = lab.command(&["config", "print"]);
        command.env_remove("RIVAL_LISTEN").envs(variables.iter().copied());
        let printed = lab.execute(command);
        assert_eq!((printed.code, &*printed.err), (0, ""), "{file}");
        for (name, value) in variables {
            assert!(printed.out.contains(&format!("{value}  {name}")), "{file}: {name}\n{}", printed.out);
        }
    }
}

/// Where systemd is, it reads the unit as we mean it.
#[cfg(unix)]
#[test]
fn systemd_takes_the_unit() {
    let lab = Lab::offline();
    let unit = read("deploy/rival.service").replace("/usr/local/bin/rival", env!("CARGO_BIN_EXE_rival"));
    let unit = lab.write("rival.service", &unit);
    let verify = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output();
    // Not every machine that builds has it.
    let Ok(verify) = verify else { return };
    let said = String::from_utf8_lossy(&verify.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("rival.service")).collect();
    assert!(ours.is_empty(), "{said}");
}

#[test]
fn the_page_for_operators_names_every_file_in_deploy() {
    let page = read("docs/operate.md");
    for file in ["rival.service", "Dockerfile"] {
        assert!(page.contains(&format!("deploy/{file}")), "{file}");
    }
    assert!(read("README.md").contains("docs/operate.md"));
}
