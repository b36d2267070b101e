//! The plan: what is wrong with it, where its nodes are, how it is written.

use expect_test::expect;
use rival_core::plan::{
    BackoffKind, BlockOrder, BranchNode, CompensationSpec, ForEachNode, Join, LoopNode, LoopTest, NamedBlock,
    Node, NodeKind, OnFailure, OnTimeout, ParallelNode, PlanBlock, PlanError, RetryPolicy, SignalNode,
    SleepLength, check_id,
};
use rival_core::{IndexedPlan, Path, Plan};

use crate::support::{nested, nested_with, plan, sleep, step, step_with};

fn named(name: &str, nodes: Vec<Node>) -> NamedBlock {
    NamedBlock { name: name.into(), block: PlanBlock::sequence(nodes) }
}

fn branch(id: &str, then: Vec<Node>, otherwise: Vec<Node>) -> Node {
    let kind = BranchNode {
        choose: "choose".into(),
        cases: vec![named("then", then), named("else", otherwise)],
        default: None,
    };
    Node::new(id, NodeKind::Branch(kind))
}

fn each(id: &str, concurrency: u32, nodes: Vec<Node>) -> Node {
    let kind = ForEachNode {
        items: "items".into(),
        body: PlanBlock::sequence(nodes),
        concurrency,
        max_iterations: None,
    };
    Node::new(id, NodeKind::ForEach(kind))
}

fn parallel(id: &str, join: Join, branches: Vec<NamedBlock>) -> Node {
    let kind = ParallelNode { branches, join, on_failure: OnFailure::Fail, finally: None };
    Node::new(id, NodeKind::Parallel(kind))
}

fn errors(plan: &Plan) -> String {
    plan.check().iter().map(|error| format!("{error}\n")).collect()
}

#[test]
fn a_sound_plan_has_no_errors() {
    let good = plan(vec![step("a"), sleep("z", SleepLength::ForMs(0)), nested("n", vec![step("a")])]);
    assert_eq!(good.check(), []);
}

#[test]
fn an_empty_workflow_is_refused_also_inside() {
    expect![[r#"
        workflow `w` has no steps: add at least one
    "#]]
    .assert_eq(&errors(&plan(vec![])));
    expect![[r#"
        `n` has no steps: add at least one
    "#]]
    .assert_eq(&errors(&plan(vec![nested("n", vec![])])));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let bad_step = step_with("s", |step| {
        step.timeout_ms = Some(0);
        step.retry.max_attempts = Some(0);
        step.compensate = Some(CompensationSpec {
            function: "c".into(),
            retry: RetryPolicy { max_attempts: Some(0), ..RetryPolicy::default() },
            timeout_ms: Some(0),
        });
    });
    let bad_loop =
        LoopNode { body: PlanBlock::default(), test: LoopTest::Until("u".into()), max_iterations: 0 };
    let signal = SignalNode { signal: "go".into(), timeout_ms: Some(0), timeout_is_value: false };
    let mut plan = plan(vec![
        bad_step,
        step("same"),
        step("same"),
        step("a/b"),
        nested("n", vec![step("x[1]"), step("")]),
        Node::new("l", NodeKind::Loop(bad_loop)),
        Node::new("g", NodeKind::Signal(signal)),
        each("e", 0, vec![step("a")]),
        parallel("p", Join::N(3), vec![named("one", vec![]), named("two", vec![step("a")])]),
        parallel("q", Join::N(0), vec![named("one", vec![step("a")])]),
        branch("b", vec![step("a")], vec![each("e", 0, vec![])]),
    ]);
    plan.workflow = " padded".into();
    plan.timeout_ms = Some(0);
    expect![[r#"
        ` padded` is not a name for a workflow: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        ` padded`: timeout must be at least 1
        `s`: timeout must be at least 1
        `s`: maxAttempts must be at least 1
        `s`: timeout must be at least 1
        `s`: maxAttempts must be at least 1
        two nodes of workflow ` padded` are called `same`: give one of them another name
        `a/b` is not a name for a node: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        `x[1]` is not a name for a node in `n`: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        `` is not a name for a node in `n`: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        `l`: maxIterations must be at least 1
        `l` has no steps: add at least one
        `g`: timeout must be at least 1
        `e`: concurrency must be at least 1
        `p` waits for 3 branches but has 2
        `p/one` has no steps: add at least one
        `q`: join must be at least 1
        `b/else/e`: concurrency must be at least 1
        `b/else/e` has no steps: add at least one
    "#]].assert_eq(&errors(&plan));
}

fn graph(nodes: &[(&str, &[&str])]) -> PlanBlock {
    let after = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect();
    let nodes = nodes.iter().map(|(id, ids)| Node { after: after(ids), ..step(id) }).collect();
    PlanBlock { order: BlockOrder::Graph, nodes }
}

fn nested_block(id: &str, block: PlanBlock) -> Node {
    nested_with(id, vec![], |nested| nested.block = block)
}

#[test]
fn lanes_are_checked_like_nodes() {
    let choice = |id: &str, names: &[&str], default: bool| {
        let cases = names.iter().map(|name| named(name, vec![step("a")])).collect();
        let default = default.then(|| PlanBlock::sequence(vec![step("a")]));
        Node::new(id, NodeKind::Branch(BranchNode { choose: "c".into(), cases, default }))
    };
    let branches = |names: &[&str]| names.iter().map(|name| named(name, vec![step("a")])).collect();
    let collecting = |id: &str, join| {
        let on_failure = OnFailure::Collect;
        Node::new(
            id,
            NodeKind::Parallel(ParallelNode { branches: branches(&["l"]), join, on_failure, finally: None }),
        )
    };
    let plan = plan(vec![
        choice("good", &["default", "x"], false),
        choice("none", &[], true),
        nested("n", vec![choice("same", &["x", "x", "default"], true)]),
        parallel("empty", Join::First, vec![]),
        parallel("twice", Join::All, branches(&["l", "l", "l/r"])),
        collecting("all", Join::All),
        collecting("first", Join::First),
    ]);
    expect![[r#"
        `none` has no cases: add at least one
        two cases of `n/same` are called `x`: give one of them another name
        two cases of `n/same` are called `default`: give one of them another name
        `empty` has no branches: add at least one
        two branches of `twice` are called `l`: give one of them another name
        `l/r` is not a name for a branch in `twice`: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        `first` collects failures, which needs the results of all branches: use join all
    "#]]
    .assert_eq(&errors(&plan));
}

#[test]
fn dependencies_belong_to_graphs_and_lead_somewhere() {
    let mut sequence = nested("sequence", vec![step("a"), step("b")]);
    if let NodeKind::Workflow(nested) = &mut sequence.kind {
        nested.block.nodes[1].after = vec!["a".into()];
    }
    let plan = plan(vec![
        nested_block("diamond", graph(&[("d", &["b", "c"]), ("b", &["a"]), ("c", &["a"]), ("a", &[])])),
        sequence,
        nested_block("unknown", graph(&[("a", &["b", "z"]), ("b", &[])])),
        nested_block("itself", graph(&[("a", &["a"])])),
        nested_block(
            "round",
            graph(&[("x", &["c"]), ("a", &["b"]), ("b", &["c", "y"]), ("c", &["a"]), ("y", &[])]),
        ),
    ]);
    expect![[r#"
        `sequence/b` has `after`, but its block is a sequence: only the nodes of a graph have dependencies
        `unknown/a` comes after `z`, but `unknown` has no such node
        the nodes of `itself` wait for each other: `a` -> `a`
        the nodes of `round` wait for each other: `c` -> `a` -> `b` -> `c`
    "#]]
    .assert_eq(&errors(&plan));
}

#[test]
fn a_long_chain_is_checked_without_a_deep_stack() {
    let ids: Vec<String> = (0..100_000).map(|n| format!("n{n}")).collect();
    let nodes = ids
        .iter()
        .enumerate()
        .map(|(n, id)| Node { after: ids.get(n + 1).cloned().into_iter().collect(), ..step(id) });
    let mut plan = plan(vec![]);
    plan.block = PlanBlock { order: BlockOrder::Graph, nodes: nodes.collect() };
    assert_eq!(plan.check(), []);
    plan.block.nodes[99_999].after = vec!["n0".into()];
    assert!(matches!(&plan.check()[..], [PlanError::Cycle { ids, .. }] if ids.len() == 100_001));
}

#[test]
fn names_are_checked_for_what_paths_and_urls_allow() {
    for good in ["a", "createUser", "größe", "a b", "a.b", "a:b-c_d", &"x".repeat(128)] {
        assert!(check_id("a node", good).is_ok(), "{good}");
    }
    for bad in ["", ".", "..", " a", "a ", "a/b", "a[1]", "a\n", "a?b", "a~1", &"x".repeat(129)] {
        assert!(check_id("a node", bad).is_err(), "{bad}");
    }
}

/// `a, n(b, m(c, a), d), check(then: x, a | else: y), items(i, j), last`.
fn index() -> IndexedPlan {
    let shared = |id: &str| step_with(id, |step| step.function = "shared".into());
    IndexedPlan::new(plan(vec![
        shared("a"),
        nested("n", vec![shared("b"), nested("m", vec![step("c"), shared("a")]), step("d")]),
        branch("check", vec![step("x"), shared("a")], vec![step("y")]),
        each("items", 1, vec![step("i"), shared("j")]),
        step("last"),
    ]))
}

fn shown(path: Option<Path>) -> String {
    path.map_or_else(|| "-".into(), |path| path.to_string())
}

#[test]
fn a_function_means_the_latest_node_before_it_in_its_block_then_further_out() {
    let plan = index();
    let producer = |from: &str| shown(plan.producer(&Path::from(from), "shared"));
    assert_eq!(producer("a"), "-", "a node does not see itself");
    assert_eq!(producer("n/b"), "a");
    assert_eq!(producer("n/m/c"), "n/b");
    assert_eq!(producer("n/m/a"), "n/b", "a node does not see itself inside either");
    assert_eq!(producer("n/d"), "n/b", "what is inside an earlier block is not visible");
    assert_eq!(producer("check/then/x"), "a");
    assert_eq!(producer("check/else/y"), "a", "the other case is not visible");
    assert_eq!(producer("items[3]/i"), "a", "what comes later in its block is not visible");
    assert_eq!(producer("last"), "a");
    assert_eq!(producer(""), "a", "the run's handler sees the outermost block");
    assert_eq!(shown(plan.producer(&Path::from("last"), "y")), "-");
    assert_eq!(shown(plan.producer(&Path::from("items[3]/j"), "i")), "items[3]/i");
}

#[test]
fn an_id_means_the_nearest_node_before_it() {
    let plan = index();
    let visible = |from: &str, id: &str| shown(plan.visible(&Path::from(from), id));
    assert_eq!(visible("n/m/c", "a"), "a", "a later one in its own block does not hide it");
    assert_eq!(visible("n/m/a", "c"), "n/m/c");
    assert_eq!(visible("n/m/a", "b"), "n/b");
    assert_eq!(visible("n/m/a", "d"), "-", "later nodes are not visible");
    assert_eq!(visible("n/m/a", "m"), "-", "nor is the block around it");
    assert_eq!(visible("check/then/a", "x"), "check/then/x");
    assert_eq!(visible("check/else/y", "x"), "-");
    assert_eq!(visible("check/then/x", "n"), "n");
    assert_eq!(visible("items[3]/j", "i"), "items[3]/i");
    assert_eq!(visible("items[3]/j", "check"), "check");
    assert_eq!(visible("last", "c"), "-", "the inside of a block is not visible outside");
    assert_eq!(visible("", "last"), "last");
}

#[test]
fn the_visible_ids_are_those_that_mean_a_node() {
    let plan = index();
    let visible = |from: &str| plan.visible_ids(&Path::from(from)).join(" ");
    assert_eq!(visible("a"), "");
    assert_eq!(visible("n/m/a"), "c b a", "nearest first, and each once");
    assert_eq!(visible("n/d"), "b m a");
    assert_eq!(visible("check/then/a"), "x a n", "the other case is not visible");
    assert_eq!(visible("items[3]/j"), "i a n check");
    assert_eq!(visible("items[3]"), "i j a n check", "an iteration that is done is seen as a whole");
    assert_eq!(visible(""), "a n check items last", "the run's handler sees the outermost block");
    for from in ["n/m/c", "n/m/a", "check/else/y", "items[3]/j", "last", ""].map(Path::from) {
        for id in plan.visible_ids(&from) {
            assert!(plan.visible(&from, id).is_some(), "{id} from {from}");
        }
    }
}

#[test]
fn in_a_graph_only_what_leads_to_a_node_is_visible() {
    let nodes = graph(&[("a", &[]), ("b", &[]), ("c", &["a"]), ("d", &["c"]), ("e", &["b"])]);
    let plan = IndexedPlan::new(Plan { block: nodes, ..plan(Vec::new()) });
    assert_eq!(plan.visible_ids(&"d".into()), ["a", "c"]);
    assert_eq!(plan.visible_ids(&"e".into()), ["b"]);
    assert_eq!(plan.visible_ids(&"a".into()), [""; 0]);
}

#[test]
fn the_node_before_the_first_of_a_block_is_the_one_before_the_block() {
    let plan = index();
    let before = |path: &str| shown(plan.before(&Path::from(path)));
    assert_eq!(before("a"), "-");
    assert_eq!(before("n"), "a");
    assert_eq!(before("n/b"), "a");
    assert_eq!(before("n/m/c"), "n/b");
    assert_eq!(before("n/m/a"), "n/m/c");
    assert_eq!(before("n/d"), "n/m");
    assert_eq!(before("check/then/x"), "n");
    assert_eq!(before("check/then/a"), "check/then/x");
    assert_eq!(before("check/else/y"), "n");
    assert_eq!(before("items[3]/j"), "items[3]/i");
    assert_eq!(before("items[3]/i"), "check");
    assert_eq!(before("last"), "items");
}

#[test]
fn the_first_node_of_a_block_is_found_by_the_blocks_path() {
    let plan = index();
    let first = |path: &str| {
        plan.block(&Path::from(path))
            .and_then(|block| block.first().next())
            .map_or("-", |node| node.id.as_str())
    };
    assert_eq!(first(""), "a");
    assert_eq!(first("n"), "b");
    assert_eq!(first("n/m"), "c");
    assert_eq!(first("items[7]"), "i");
    assert_eq!(first("check/then"), "x");
    assert_eq!(first("check/else"), "y");
    assert_eq!(first("check"), "-", "a branch has several blocks");
    assert_eq!(first("a"), "-", "a step has none");
    assert_eq!(first("nowhere"), "-");
}

#[test]
fn a_node_knows_the_next_one_of_its_block() {
    let plan = index();
    let next =
        |path: &str| plan.node(&Path::from(path)).and_then(|node| node.next()).map_or("-", |node| &node.id);
    assert_eq!(next("a"), "n");
    assert_eq!(next("n"), "check");
    assert_eq!(next("n/m"), "d");
    assert_eq!(next("n/m/a"), "-");
    assert_eq!(next("check/then/a"), "-");
    assert_eq!(next("last"), "-");
}

/// One of everything.
fn everything() -> Plan {
    let full = step_with("full", |step| {
        step.retry = RetryPolicy {
            max_attempts: Some(3),
            backoff: Some(BackoffKind::Exponential),
            backoff_ms: Some(250),
            jitter: true,
        };
        step.timeout_ms = Some(1_000);
        step.on_timeout = OnTimeout::Retry;
        step.on_error = Some("h".into());
        step.continue_on_error = true;
        step.at_most_once = true;
        step.compensate = Some(CompensationSpec {
            function: "undo".into(),
            retry: RetryPolicy { max_attempts: Some(2), ..RetryPolicy::default() },
            timeout_ms: Some(5),
        });
    });
    let signal = SignalNode { signal: "go".into(), timeout_ms: Some(9), timeout_is_value: true };
    let until = LoopNode {
        body: PlanBlock::sequence(vec![step("a")]),
        test: LoopTest::Until("u".into()),
        max_iterations: 5,
    };
    let looped = LoopNode { test: LoopTest::While("w".into()), ..until.clone() };
    let choice = BranchNode {
        choose: "c".into(),
        cases: vec![named("x", vec![step("a")])],
        default: Some(PlanBlock::sequence(vec![step("b")])),
    };
    let list = ForEachNode {
        items: "i".into(),
        body: PlanBlock::sequence(vec![step("a")]),
        concurrency: 4,
        max_iterations: Some(100),
    };
    let race = ParallelNode {
        branches: vec![named("l", vec![step("a")]), named("r", vec![step("b")])],
        join: Join::N(1),
        on_failure: OnFailure::Collect,
        finally: Some("f".into()),
    };
    let mut graph = nested("graph", vec![step("a"), Node { after: vec!["a".into()], ..step("b") }]);
    if let NodeKind::Workflow(nested) = &mut graph.kind {
        nested.block.order = BlockOrder::Graph;
    }
    let inner = nested_with("n", vec![step("a")], |nested| {
        nested.input = Some("m".into());
        nested.on_error = Some("h".into());
    });
    let nodes = vec![
        step("plain"),
        full,
        sleep("for", SleepLength::ForMs(u64::MAX)),
        sleep("until", SleepLength::UntilMs(-1)),
        sleep("computed", SleepLength::Computed("w".into())),
        Node::new("signal", NodeKind::Signal(signal)),
        Node::new("branch", NodeKind::Branch(choice)),
        Node::new("until-loop", NodeKind::Loop(until)),
        Node::new("while-loop", NodeKind::Loop(looped)),
        Node::new("each", NodeKind::ForEach(list)),
        Node::new("race", NodeKind::Parallel(race)),
        parallel("first", Join::First, vec![named("l", vec![step("a")])]),
        parallel("all", Join::All, vec![named("l", vec![step("a")])]),
        graph,
        inner,
    ];
    Plan { on_error: Some("h".into()), timeout_ms: Some(7), max_retries: 2, ..plan(nodes) }
}

#[test]
fn a_plan_with_every_kind_of_node_is_read_back_as_it_was_written() {
    let plan = everything();
    let text = plan.to_json();
    let back = Plan::from_json(&text).expect("a stored plan is read back");
    assert_eq!(back, plan);
    assert_eq!(back.to_json(), text, "its JSON is canonical");
    assert_eq!(back.hash(), plan.hash());
    assert_eq!(plan.step_count(), 14);
}

/// Runs name their plan by this hash. When this fails, plans on disk get another name: keep the JSON of
/// existing settings as it is, and leave new ones out when they have their default.
#[test]
fn the_hash_of_a_plan_is_stable() {
    expect!["fa2080c07b2600535611bcc549368e98aaba976bbdcf22df573d43b9dc093381"]
        .assert_eq(everything().hash().as_str());
    expect![[r#"{"workflow":"w","block":{"nodes":[{"id":"a","kind":"step","function":"a"}]}}"#]]
        .assert_eq(&plan(vec![step("a")]).to_json());
    expect!["ba6d5a41bccd7dd941bb8236fd346e17c3e576a23eb913b0289f4e2e0078b76e"]
        .assert_eq(plan(vec![step("a")]).hash().as_str());
}

#[test]
fn another_setting_is_another_plan() {
    let other = plan(vec![step_with("a", |step| step.at_most_once = true)]);
    assert_ne!(plan(vec![step("a")]).hash(), other.hash());
}

#[test]
fn an_unknown_setting_of_a_plan_is_refused() {
    let error = Plan::from_json(r#"{"workflow": "w", "block": {"nodes": []}, "colour": "red"}"#);
    assert!(error.expect_err("it is unknown").to_string().starts_with("unknown field `colour`"));
}
