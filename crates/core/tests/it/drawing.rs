//! Plans as pictures.

use expect_test::expect;
use rival_core::Plan;
use rival_core::plan::{
    BlockOrder, BranchNode, ForEachNode, Join, LoopNode, LoopTest, NamedBlock, Node, NodeKind, OnFailure,
    ParallelNode, PlanBlock, SignalNode, SleepLength,
};

use crate::support::{nested_with, plan, sleep, step, step_with};

fn lane(name: &str, nodes: Vec<Node>) -> NamedBlock {
    NamedBlock { name: name.into(), block: PlanBlock::sequence(nodes) }
}

fn drawn() -> Plan {
    let choice = BranchNode {
        choose: "is_large".into(),
        cases: vec![lane("then", vec![step("wrap")])],
        default: Some(PlanBlock::sequence(vec![step("post")])),
    };
    let setup = ParallelNode {
        branches: vec![lane("db", vec![step("create"), step("grant")]), lane("crm", vec![step("create")])],
        join: Join::N(1),
        on_failure: OnFailure::Fail,
        finally: None,
    };
    let poll = LoopNode {
        body: PlanBlock::sequence(vec![sleep("delay", SleepLength::ForMs(500)), step("ask")]),
        test: LoopTest::Until("is_done".into()),
        max_iterations: 9,
    };
    let each = ForEachNode {
        items: "orders".into(),
        body: PlanBlock::sequence(vec![step("charge")]),
        concurrency: 8,
        max_iterations: None,
    };
    let signal = SignalNode { signal: "approved".into(), timeout_ms: None, timeout_is_value: false };
    let graph = nested_with("order", vec![step("validate"), step("fraud"), step("pay")], |nested| {
        nested.block.order = BlockOrder::Graph;
        nested.block.nodes[2].after = vec!["validate".into(), "fraud".into()];
    });
    plan(vec![
        step_with("first", |step| step.function = "say \"hi\" #1 <b> & go\n".into()),
        Node::new("setup", NodeKind::Parallel(setup)),
        Node::new("size", NodeKind::Branch(choice)),
        Node::new("poll", NodeKind::Loop(poll)),
        Node::new("charge all", NodeKind::ForEach(each)),
        Node::new("approval", NodeKind::Signal(signal)),
        graph,
    ])
}

#[test]
fn mermaid_draws_blocks_as_subgraphs() {
    expect![[r#"
        flowchart TD
        n0["first: say #quot;hi#quot; #35;1 #lt;b#gt; #amp; go"]
        subgraph n1["setup: first 1"]
          subgraph n2["db"]
            n3["create"]
            n4["grant"]
          end
          subgraph n5["crm"]
            n6["create"]
          end
        end
        subgraph n7["size: is_large?"]
          subgraph n8["then"]
            n9["wrap"]
          end
          subgraph n10["default"]
            n11["post"]
          end
        end
        subgraph n12["poll: until is_done"]
          n13(["delay: for 500 ms"])
          n14["ask"]
        end
        subgraph n15["charge all: for each of orders, 8 at a time"]
          n16["charge"]
        end
        n17(["approval: signal approved"])
        subgraph n18["order: workflow"]
          n19["validate"]
          n20["fraud"]
          n21["pay"]
        end
        n0 --> n1
        n1 --> n7
        n7 --> n12
        n12 --> n15
        n15 --> n17
        n17 --> n18
        n3 --> n4
        n13 --> n14
        n19 --> n21
        n20 --> n21
    "#]]
    .assert_eq(&drawn().graph().to_mermaid());
}

#[test]
fn graphviz_draws_blocks_as_clusters() {
    expect![[r#"
        digraph "w" {
          compound=true;
          node [shape=box];
          n0 [label="first: say \"hi\" #1 <b> & go"];
          subgraph cluster_n1 {
            label="setup: first 1";
            subgraph cluster_n2 {
              label="db";
              n3 [label="create"];
              n4 [label="grant"];
            }
            subgraph cluster_n5 {
              label="crm";
              n6 [label="create"];
            }
          }
          subgraph cluster_n7 {
            label="size: is_large?";
            subgraph cluster_n8 {
              label="then";
              n9 [label="wrap"];
            }
            subgraph cluster_n10 {
              label="default";
              n11 [label="post"];
            }
          }
          subgraph cluster_n12 {
            label="poll: until is_done";
            n13 [label="delay: for 500 ms", style=rounded];
            n14 [label="ask"];
          }
          subgraph cluster_n15 {
            label="charge all: for each of orders, 8 at a time";
            n16 [label="charge"];
          }
          n17 [label="approval: signal approved", style=rounded];
          subgraph cluster_n18 {
            label="order: workflow";
            n19 [label="validate"];
            n20 [label="fraud"];
            n21 [label="pay"];
          }
          n0 -> n3 [lhead=cluster_n1];
          n6 -> n9 [ltail=cluster_n1, lhead=cluster_n7];
          n11 -> n13 [ltail=cluster_n7, lhead=cluster_n12];
          n14 -> n16 [ltail=cluster_n12, lhead=cluster_n15];
          n16 -> n17 [ltail=cluster_n15];
          n17 -> n19 [lhead=cluster_n18];
          n3 -> n4;
          n13 -> n14;
          n19 -> n21;
          n20 -> n21;
        }
    "#]]
    .assert_eq(&drawn().graph().to_dot());
}

#[test]
fn json_has_paths_and_edges() {
    let mut json: serde_json::Value = serde_json::from_str(&drawn().graph().to_json()).expect("it is JSON");
    json.sort_all_objects();
    let setup = serde_json::to_string_pretty(&json["nodes"][1]).expect("it is JSON");
    expect![[r#"
        {
          "children": [
            {
              "children": [
                {
                  "id": "create",
                  "kind": "step",
                  "label": "create",
                  "path": "setup/db/create"
                },
                {
                  "id": "grant",
                  "kind": "step",
                  "label": "grant",
                  "path": "setup/db/grant"
                }
              ],
              "id": "db",
              "kind": "lane",
              "label": "db",
              "path": "setup/db"
            },
            {
              "children": [
                {
                  "id": "create",
                  "kind": "step",
                  "label": "create",
                  "path": "setup/crm/create"
                }
              ],
              "id": "crm",
              "kind": "lane",
              "label": "crm",
              "path": "setup/crm"
            }
          ],
          "id": "setup",
          "kind": "parallel",
          "label": "setup: first 1",
          "path": "setup"
        }"#]]
    .assert_eq(&setup);
    let edges = json["edges"].as_array().expect("a list").iter();
    let edges = edges.map(|edge| format!("{} {}\n", edge["from"], edge["to"])).collect::<String>();
    expect![[r#"
        "first" "setup"
        "setup" "size"
        "size" "poll"
        "poll" "charge all"
        "charge all" "approval"
        "approval" "order"
        "setup/db/create" "setup/db/grant"
        "poll/delay" "poll/ask"
        "order/validate" "order/pay"
        "order/fraud" "order/pay"
    "#]]
    .assert_eq(&edges);
}
