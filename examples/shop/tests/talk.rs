//! The shop as its clients see it: a program that is asked over its stdin.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn it_tells_its_tools_and_charges() {
    let mut shop = Command::new(env!("CARGO_BIN_EXE_shop-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    let charge = |order: &str| json!({ "name": "charge", "arguments": { "orderId": order } });
    let lines = [
        request(1, "initialize", &hello),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        request(2, "tools/list", &json!({})),
        request(3, "tools/call", &charge("o-3")),
        request(4, "tools/call", &charge("o-9")),
    ];
    let stdin = shop.stdin.as_mut().expect("it reads");
    lines.iter().for_each(|line| writeln!(stdin, "{line}").expect("it listens"));
    let mut answers = std::collections::BTreeMap::new();
    let mut stdout = std::io::BufReader::new(shop.stdout.take().expect("it writes"));
    while answers.len() < 4 {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut stdout, &mut line).expect("it answers") > 0, "{answers:?}");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        answers.insert(answer["id"].as_u64(), answer["result"].clone());
    }
    drop(shop.stdin.take());
    assert!(shop.wait().expect("it ends").success(), "it ends with its client");
    let tools = answers[&Some(2)]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["charge", "exchange_rate", "list_orders", "send_mail"]);
    assert!(tools.iter().all(|tool| tool["outputSchema"].is_object()), "the types of all are known");
    assert_eq!(answers[&Some(3)]["structuredContent"]["success"], false);
    assert_eq!(answers[&Some(4)]["isError"], true);
}
