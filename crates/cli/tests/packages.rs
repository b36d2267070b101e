//! Some of the npm packages that docs/typescript.md says work in steps: `make packages` tries all of them.

use std::path::Path;
use std::process::Command;

#[test]
fn the_packages_that_most_authors_want_work_in_steps() {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/packages");
    assert!(tools.join("few/node_modules").is_dir(), "`make setup` installs the packages");
    let tried = Command::new("node")
        .arg(tools.join("try.mjs"))
        .args([env!("CARGO_BIN_EXE_rival"), "--few"])
        .output()
        .expect("`make setup` installs Node.js");
    let said = String::from_utf8_lossy(&tried.stdout);
    assert!(tried.status.success(), "{said}\n{}", String::from_utf8_lossy(&tried.stderr));
    assert!(said.contains("10 of 10 work"), "{said}");
}
