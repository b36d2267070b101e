//! Documents: checked, saved, found as files, run with transforms.

use expect_test::expect;

use crate::lab::{Lab, signal};

/// Greets whom the input names.
const GREET: &str = r#"{
  "name": "greet",
  "description": "Greets",
  "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
  "steps": [[{
    "name": "greeting",
    "transform": "interface Input { name: string }\ninterface Output { text: string }\nexport default (input: Input): Output => ({ text: `Hello, ${input.name}` })",
    "input": { "name": "@input.name" }
  }]]
}
"#;

const BROKEN: &str = "{\n  \"name\": \"broken\",\n  \"steps\": [[{ \"name\": \"rest\", \"sleep\": { \"ms\": \"long\" }, \"retries\": 3 }]]\n}\n";

#[test]
fn a_document_is_checked_without_being_saved() {
    let lab = Lab::offline();
    lab.write("greet.json", GREET);
    lab.rival(&["validate", "greet.json"]).is(&expect![[r#"
        valid
    "#]]);
    lab.write("broken.json", BROKEN);
    lab.rival(&["validate", "broken.json"]).is(&expect![[r#"
        broken.json:3:49: step `rest`: `sleep.ms` is a whole number from 0 to 9007199254740991
          3 |  "steps": [[{ "name": "rest", "sleep": { "ms": "long" }, "retries": 3 }]]
            |  ^
        broken.json:3:59: step `rest`: a step has no field `retries`; did you mean `retry`?
          3 |  "steps": [[{ "name": "rest", "sleep": { "ms": "long" }, "retries": 3 }]]
            |  ^
        ! error: broken.json is not valid: 2 problems
        exit 1
    "#]]);
    let json = lab.rival(&["validate", "broken.json", "-o", "json"]);
    assert_eq!(json.code, 1);
    assert_eq!((&json.json()["valid"], json.json()["errors"].as_array().unwrap().len()), (&false.into(), 2));
    lab.rival_with(&["validate", "-"], "{ \"name\": ").is(&expect![[r#"
        stdin:1:11: expected a value, found the end of the text
          1 | { "name":
            |  ^
        ! error: stdin is not valid: 1 problem
        exit 1
    "#]]);
    lab.rival(&["validate", "nowhere.json"]).is(&expect![[r#"
        ! error: cannot read the document from nowhere.json: No such file or directory (os error 2)
        exit 4
    "#]]);
    assert_eq!(lab.rival(&["documents", "create", "broken.json"]).code, 1);
    // Checking made no store.
    assert!(!lab.path("data").exists());
}

#[test]
fn documents_are_saved_listed_shown_and_deleted_with_a_server_and_without() {
    for online in [false, true] {
        let lab = if online { Lab::online() } else { Lab::offline() };
        lab.write("greet.json", GREET);
        lab.rival(&["documents", "create", "greet.json"]).is(&expect![[r#"
            greet version 1
        "#]]);
        let again = lab.rival(&["documents", "create", "greet.json"]);
        assert_eq!(again.code, 1);
        assert!(again.err.contains("a document called `greet` exists"), "{}", again.err);
        lab.write("greet.json", &GREET.replace("Hello", "Good day"));
        lab.rival(&["documents", "put", "greet.json", "--if-version", "1"]).is(&expect![[r#"
            greet version 2
        "#]]);
        let stale = lab.rival(&["documents", "put", "greet.json", "--if-version", "7"]);
        assert!(stale.err.contains("version 2 is the newest"), "{}", stale.err);
        assert_eq!(lab.rival(&["documents", "-o", "ids"]).ok(), "greet\n");
        assert!(lab.rival(&["documents"]).ok().contains("good"));
        assert_eq!(lab.raw(&["documents", "show", "greet", "--version", "1"]), GREET);
        let listed = lab.rival(&["workflows", "greet", "-o", "json"]).json();
        assert_eq!((&listed["kind"], &listed["file"]), (&"document".into(), &serde_json::Value::Null));
        if online {
            let run = lab.rival(&["run", "greet", "-i", r#"{"name": "Ada"}"#, "--wait"]).ok();
            assert!(run.contains("Good day, Ada"), "{run}");
        }
        lab.rival(&["documents", "delete", "greet"]).ok();
        assert_eq!(lab.rival(&["documents", "-o", "ids"]).ok(), "");
        let versions = lab.rival(&["documents", "versions", "greet", "-o", "json"]).json();
        let deleted: Vec<_> = versions.as_array().unwrap().iter().map(|it| it["deleted"] == true).collect();
        assert_eq!(deleted, [true, false, false]);
        lab.write("broken.json", BROKEN);
        let refused = lab.rival(&["documents", "put", "broken.json"]);
        assert!(refused.err.contains("broken.json:3:"), "{}", refused.err);
    }
}

#[test]
fn a_document_outlives_its_server() {
    let mut lab = Lab::online();
    lab.write("greet.json", GREET);
    lab.rival(&["documents", "create", "greet.json"]).ok();
    lab.kill_server();
    lab.serve(&[]);
    let run = lab.rival(&["run", "greet", "-i", r#"{"name": "Ada"}"#, "--wait"]).ok();
    assert!(run.contains("Hello, Ada"), "{run}");
}

/// Asks until the answer is as it should be. What never comes fails the test by its own limit.
fn until(lab: &Lab, args: &[&str], says: &str) {
    while !lab.rival(args).all().contains(says) {}
}

#[test]
fn document_files_are_served_and_loaded_again_like_scripts() {
    let mut lab = Lab::offline();
    lab.write("flows/greet.workflow.json", GREET);
    lab.write("flows/other.ts", "export const steps = [function one() { return 1 }]\n");
    lab.start(&["dev", "flows"]);
    let shown = lab.rival(&["workflows", "-o", "json"]).json();
    let kinds: Vec<_> = shown.as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["document", "typescript"]);
    assert!(shown[0]["file"].as_str().unwrap().ends_with("flows/greet.workflow.json"));
    let run = lab.rival(&["run", "greet", "-i", r#"{"name": "Ada"}"#, "--wait"]).ok();
    assert!(run.contains("Hello, Ada"), "{run}");

    lab.write("flows/greet.workflow.json", BROKEN);
    until(&lab, &["workflows"], "problem: flows/greet.workflow.json:3:");
    // The last good version stays.
    let run = lab.rival(&["run", "greet", "-i", r#"{"name": "Eve"}"#, "--wait"]).ok();
    assert!(run.contains("Hello, Eve"), "{run}");
    lab.write("flows/greet.workflow.json", &GREET.replace("Hello", "Good day"));
    lab.write("flows/third.workflow.json", &GREET.replace("\"greet\"", "\"third\""));
    until(&lab, &["workflows", "-o", "ids"], "third");
    until(&lab, &["run", "greet", "-i", r#"{"name": "Ada"}"#, "--wait"], "Good day, Ada");
    std::fs::remove_file(lab.path("flows/third.workflow.json")).unwrap();
    until(&lab, &["run", "third"], "no workflow is called `third`");
}

#[test]
fn document_files_are_read_again_at_sighup() {
    let mut lab = Lab::offline();
    lab.write("greet.workflow.json", GREET);
    lab.start(&["serve", "greet.workflow.json"]);
    lab.write("greet.workflow.json", &GREET.replace("Hello", "Good day"));
    let server = lab.server();
    signal(&server.child, "HUP");
    until(&lab, &["run", "greet", "-i", r#"{"name": "Ada"}"#, "--wait"], "Good day, Ada");
}
