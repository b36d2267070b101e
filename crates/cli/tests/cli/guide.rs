//! The guide to documents and the example documents, as they are: checked, served with the shop that they call, and run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::lab::Lab;

const GUIDE: &str = include_str!("../../../../docs/documents.md");

/// Workflows that triggers of the guide start, which it does not show.
const OTHERS: &str = "function done({ input }) { return input }\nexport const steps = [done]\n";

/// The blocks of the guide in a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let fence = format!("```{language}\n");
    let blocks: Vec<_> = GUIDE.split(fence.as_str()).skip(1).collect();
    blocks.into_iter().filter_map(|rest| rest.split("```").next())
}

/// The documents of the guide, with their names.
fn documents() -> Vec<(String, &'static str)> {
    let named = |text: &'static str| {
        let document: Value = serde_json::from_str(text).unwrap();
        (document["name"].as_str().unwrap().to_owned(), text)
    };
    blocks("json").map(named).collect()
}

/// The program that example documents call. A build of the whole workspace leaves it beside the command.
fn shop() -> PathBuf {
    let shop = Path::new(env!("CARGO_BIN_EXE_rival")).with_file_name("shop-server");
    assert!(shop.exists(), "build it first: cargo build --package rival-example-shop");
    shop
}

/// A server with the shop, and with these workflows.
fn serving(workflows: &[(String, &str)]) -> Lab {
    let mut lab = with_shop(workflows);
    lab.start(&["serve"]);
    lab
}

/// A project with the shop and these workflows, without a server.
fn with_shop(workflows: &[(String, &str)]) -> Lab {
    let lab = Lab::offline();
    lab.write("flows/README", "workflows are beside it");
    let shop = shop();
    let settings = format!("workflows = [\"flows\"]\n\n[connections.shop]\ncommand = {shop:?}\n");
    lab.write("rival.toml", &settings);
    for (name, text) in workflows {
        lab.write(&format!("flows/{name}"), text);
    }
    lab
}

/// Those of the guide, and what their triggers start.
fn of_the_guide() -> Lab {
    let good = documents().into_iter().filter(|(name, _)| name != "wrong-types");
    let documents = good.map(|(name, text)| (format!("{name}.workflow.json"), text));
    let others = ["one", "ship", "remind"].map(|name| (format!("{name}.ts"), OTHERS));
    serving(&documents.chain(others).collect::<Vec<_>>())
}

fn of_the_examples() -> Lab {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/documents");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let texts: Vec<_> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let name = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    let named: Vec<_> = files.iter().zip(&texts).map(|(file, text)| (name(file), text.as_str())).collect();
    serving(&named)
}

/// The output of a run that is waited for.
fn output(lab: &Lab, workflow: &str, id: &str, input: &Value) -> Value {
    let input = input.to_string();
    lab.rival(&["run", workflow, "--id", id, "-i", &input, "--wait"]).json()
}

/// What became of a run's triggers, in their order: each one's status, and the runs that it started.
fn triggered(lab: &Lab, run: &str) -> Vec<(String, Vec<String>)> {
    // It has ended when all is started that is to be.
    lab.rival(&["wait", &format!("{run}~triggers")]);
    let shown = lab.rival(&["show", run, "-o", "json"]).json();
    let triggers = shown["triggers"].as_array().unwrap_or_else(|| panic!("{shown:#}"));
    let ids = |runs: &Value| runs.as_array().into_iter().flatten().map(text).collect();
    triggers.iter().map(|trigger| (text(&trigger["status"]), ids(&trigger["runs"]))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn started(runs: &[&str]) -> (String, Vec<String>) {
    ("triggered".to_owned(), runs.iter().map(|&run| run.to_owned()).collect())
}

fn skipped() -> (String, Vec<String>) {
    ("skipped".to_owned(), Vec::new())
}

#[test]
fn the_documents_of_the_guide_are_good_but_for_the_one_that_shows_errors() {
    let lab = of_the_guide();
    for (name, text) in documents() {
        let file = format!("{name}.json");
        lab.write(&file, text);
        let said = lab.rival(&["validate", &file]);
        if name != "wrong-types" {
            assert_eq!(said.code, 0, "{name}: {}", said.all());
            continue;
        }
        assert_ne!(said.code, 0);
        let shown = blocks("text").find(|block| block.contains(&file)).expect("the guide shows its errors");
        assert_eq!(lab.raw(&["validate", &file]), shown);
    }
}

#[test]
fn a_document_is_checked_against_tools_that_no_server_has_read() {
    let lab = with_shop(&[]);
    for (name, code) in [("pay", 0), ("wrong-types", 1)] {
        let (_, text) = documents().into_iter().find(|(it, _)| it == name).unwrap();
        lab.write("document.json", text);
        let said = lab.rival(&["validate", "document.json"]);
        assert_eq!(said.code, code, "{}", said.all());
        assert_eq!(said.out.contains("has no tool `send_mial`"), code == 1, "{}", said.all());
    }
}

#[test]
fn the_documents_of_the_guide_run() {
    let lab = of_the_guide();
    let invoice = json!({ "customer": "Ada", "prices": [3, 4.5] });
    let letter = json!({ "text": "Dear Ada, you owe us 7.5 euros." });
    assert_eq!(output(&lab, "invoice", "i", &invoice), letter);
    let paid = output(&lab, "pay", "p", &json!({ "orderId": "o-1" }));
    assert_eq!((&paid["success"], &paid["order"]["customer"]["name"]), (&json!(true), &json!("Ada")));
    let rates = output(&lab, "rates", "r", &json!({ "countries": ["GB", "XX", "US"] }));
    assert_eq!(rates, json!({ "currencies": ["GBP", "USD"] }));
    let approval = json!({ "orderId": "o-1", "notBefore": "2020-01-31T09:00:00Z" });
    lab.rival(&["run", "approval", "--id", "a", "-i", &approval.to_string()]).ok();
    let refused = lab.rival(&["signal", "a", "decision", r#"{"approved": "yes"}"#]);
    assert_ne!(refused.code, 0, "{}", refused.all());
    lab.rival(&["signal", "a", "decision", r#"{"approved": true}"#]).ok();
    assert_eq!(lab.rival(&["wait", "a"]).json(), json!({ "text": "o-1: yes" }));
}

#[test]
fn the_triggers_of_the_guide_fire() {
    let lab = of_the_guide();
    output(&lab, "decider", "d1", &json!({ "paid": true, "orderId": "o-1" }));
    assert_eq!(triggered(&lab, "d1"), [started(&["d1~t0"]), skipped()]);
    output(&lab, "decider", "d2", &json!({ "paid": false, "orderId": "o-2" }));
    assert_eq!(triggered(&lab, "d2"), [skipped(), started(&["d2~t1"])]);
    assert_eq!(lab.rival(&["wait", "d2~t1"]).json(), json!({ "orderId": "o-2" }));

    output(&lab, "dispatcher", "f", &json!({ "ids": ["a", "b", "c"] }));
    assert_eq!(triggered(&lab, "f"), [started(&["f~t0.0", "f~t0.1", "f~t0.2"])]);
    let second = json!({ "item": { "id": "b" }, "number": 1, "batch": "batch of 3" });
    assert_eq!(lab.rival(&["wait", "f~t0.1"]).json(), second);

    output(&lab, "countdown", "c", &json!({ "left": 2 }));
    assert_eq!(triggered(&lab, "c"), [started(&["c~t0"])]);
    assert_eq!(triggered(&lab, "c~t0"), [started(&["c~t0~t0"])]);
    assert_eq!(triggered(&lab, "c~t0~t0"), [skipped()]);
}

#[test]
fn the_example_documents_run() {
    let lab = of_the_examples();
    for document in ["order-processor", "send-confirmation", "handle-failure", "orders-report"] {
        assert!(lab.rival(&["workflows", "-o", "ids"]).ok().contains(document), "{document} is served");
    }
    let report = output(&lab, "orders-report", "report", &json!({}));
    assert_eq!(report, json!({ "id": "mail-1" }));

    let good = output(&lab, "order-processor", "good", &json!({ "orderId": "o-1" }));
    assert_eq!(good["confirmation"]["email"], "ada@shop.example");
    assert_eq!(triggered(&lab, "good"), [started(&["good~t0"]), skipped()]);
    assert_eq!(lab.rival(&["wait", "good~t0"]).json(), json!({ "id": "mail-2" }));

    let declined = output(&lab, "order-processor", "declined", &json!({ "orderId": "o-3" }));
    assert_eq!(declined["failure"]["error"], "910 is more than 500");
    assert_eq!(triggered(&lab, "declined"), [skipped(), started(&["declined~t1"])]);
    lab.rival(&["signal", "declined~t1", "decision", r#"{"text": "we call Linus"}"#]).ok();
    assert_eq!(lab.rival(&["wait", "declined~t1"]).json(), json!({ "id": "mail-3" }));
}
