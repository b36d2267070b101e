//! What files say of themselves: their plans are plans, and everything is in them.

use std::collections::BTreeMap;

use rival_core::Plan;
use rival_core::plan::FunctionRef;
use rival_script_host::frame::{ModuleSource, ToHost};
use serde_json::{Value, json};

use crate::lab::{Lab, Place, file, linked};

/// A host that has these files.
pub fn lab(files: Vec<ModuleSource>) -> Lab {
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: files });
    lab
}

/// What `/flow.js` says of itself.
fn described(code: &str) -> Value {
    lab(vec![file("/flow.js", code)]).describe("/flow.js").unwrap()
}

/// The plan of a workflow, which can be run.
fn plan(workflow: &Value) -> Plan {
    let plan = Plan::from_json(&workflow["plan"].to_string()).unwrap();
    assert_eq!(plan.check(), []);
    // Nothing is in it that the plan does not know.
    assert_eq!(serde_json::from_str::<Value>(&plan.to_json()).unwrap(), with_join(workflow["plan"].clone()));
    plan
}

/// Plans always say what a parallel block waits for.
fn with_join(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            if fields.get("kind") == Some(&json!("parallel")) {
                fields.entry("join").or_insert(json!("all"));
            }
            for (_, field) in fields.iter_mut() {
                *field = with_join(field.take());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = with_join(item.take())),
        _ => {}
    }
    value
}

/// The plan's nodes and functions, a line each: `path kind function`.
fn outline(plan: &Plan) -> String {
    let mut lines = Vec::new();
    lines_of(&serde_json::from_str(&plan.to_json()).unwrap(), "", &mut lines);
    lines.join("\n")
}

/// Maps keep their order or are sorted, as other crates of a build want it; here they are sorted.
fn lines_of(value: &Value, at: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let name = |field: &str| fields.get(&field.to_owned()).and_then(|name| name.as_str());
            let at = match (name("id"), name("kind"), name("name")) {
                (Some(id), Some(kind), _) => {
                    let path = join(at, id);
                    lines.push(format!("{path} {kind}{}", settings(&fields)));
                    path
                }
                (_, _, Some(name)) => join(at, name),
                _ => at.to_owned(),
            };
            fields.values().for_each(|field| lines_of(field, &at, lines));
        }
        Value::Array(items) => items.iter().for_each(|item| lines_of(item, at, lines)),
        _ => {}
    }
}

/// Everything of a node but its name and what is inside.
fn settings(fields: &BTreeMap<&String, &Value>) -> String {
    let is_inside = |value: &Value| value.to_string().contains("\"nodes\"");
    let plain =
        fields.iter().filter(|(name, value)| !["id", "kind"].contains(&name.as_str()) && !is_inside(value));
    plain.map(|(name, value)| format!(" {name}={}", sorted(value))).collect()
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn join(at: &str, id: &str) -> String {
    if at.is_empty() { id.to_owned() } else { format!("{at}/{id}") }
}

#[test]
fn a_list_of_functions_is_a_workflow() {
    let mut lab = lab(vec![file(
        "/flows/tree-processing.ts",
        "export const description = 'trees'
        function findTree({ input }) { return input }
        const chopTree = async ({ steps }) => steps.findTree
        export const onError = () => {}
        export const steps = [findTree, chopTree, findTree]",
    )]);
    let described = lab.describe("/flows/tree-processing.ts").unwrap();
    let workflow = &described["workflows"][0];
    assert_eq!(workflow["name"], "tree-processing");
    assert_eq!(workflow["description"], "trees");
    assert_eq!((&workflow["parses"], &workflow["registered"]), (&json!(false), &json!(true)));
    let plan = plan(workflow);
    assert_eq!(plan.on_error.as_ref().and_then(FunctionRef::named), Some("#onError"));
    assert_eq!(
        outline(&plan),
        "findTree step function=\"findTree\"\n\
         chopTree step function=\"chopTree\"\n\
         findTree_2 step function=\"findTree\""
    );
    let functions = workflow["functions"].as_object().unwrap();
    assert_eq!(functions.len(), 3);
    assert_eq!(
        functions["chopTree"],
        json!({"source": "async ({ steps }) => steps.findTree", "role": "step"})
    );
    assert_eq!(functions["#onError"]["role"], "onError");
}

#[test]
fn every_kind_of_node_has_its_place() {
    let described = described(
        "import { branch, delayStep, forEach, httpStep, loop, parallel, signal, sleep } from 'rival'
        import { z } from 'zod'
        export const name = 'all of it'
        export const timeout = '1h'
        export const maxRetries = 2
        function a() {}
        const undo = () => {}
        export const steps = [
            { fn: a, name: 'first', timeout: '5s', onTimeout: 'retry', maxAttempts: 3, backoff: 'exponential', backoffMs: 50,
              jitter: true, onError: undo, continueOnError: true, atMostOnce: true, compensate: undo },
            { fn: a, timeout: 1000, onTimeout: 'stop', jitter: false, continueOnError: false,
              compensate: { fn: undo, maxAttempts: 5, backoff: 'linear', backoffMs: '1s', timeout: '2 minutes' } },
            httpStep({ url: 'http://x' }),
            { fn: httpStep({ url: 'http://x' }), name: 'ask', maxAttempts: 2 },
            delayStep({ seconds: 1, minutes: 1 }), sleep('1h 30m'), sleep({ until: '2030-01-01T00:00:00Z', name: 'newYear' }),
            sleep(new Date(5)), sleep(a),
            signal('go', { timeout: '7 days', timeoutIsValue: true, schema: z.object({ by: z.string() }) }),
            signal('go', { name: 'again' }),
            branch({ name: 'b', if: a, then: [a, a], else: a }),
            branch({ name: 'half', if: a, else: [a] }),
            branch({ name: 'c', on: a, cases: { x: [a], 'y z': a }, default: [a] }),
            loop({ name: 'l', body: a, until: a }), loop({ name: 'w', body: [a], while: a, maxIterations: 5 }),
            forEach({ name: 'e', items: a, body: [a, branch({ if: a, then: a })], concurrency: 4, maxIterations: 9 }),
            forEach({ items: [1, 2], step: a }),
            parallel({ name: 'p', steps: [a, a, sleep(1)], join: 'first' }),
            parallel({ name: 'q', branches: { db: [a, a], crm: a }, join: 2, finally: a }),
            parallel({ steps: [a], onFailure: 'collect' }),
            () => 1, { fn: () => 2, name: 'two' }, { fn: function fn() {} },
        ]",
    );
    let workflow = &described["workflows"][0];
    let plan = plan(workflow);
    assert_eq!(
        (plan.workflow.as_str(), plan.timeout_ms, plan.max_retries),
        ("all of it", Some(3_600_000), 2)
    );
    assert_eq!(outline(&plan), EVERYTHING_NOW.trim());
    let former = Plan::from_json(&workflow["former"]["plan"].to_string()).unwrap();
    assert_eq!(outline(&former), EVERYTHING_FORMER.trim());
    assert_eq!(workflow["former"]["functions"]["p/a_2/a"], "p/a/a");
    let roles: Vec<&str> =
        workflow["functions"].as_object().unwrap().values().map(|it| it["role"].as_str().unwrap()).collect();
    for role in ["step", "onError", "compensate", "wait", "choose", "test", "items", "finally"] {
        assert!(roles.contains(&role), "{role}");
    }
    assert_eq!(workflow["signalSchemas"]["go"]["properties"]["by"]["type"], "string");
}

/// What has no name is known by its text: another printer or digest would block the runs of every such workflow.
const EVERYTHING_NOW: &str = r#"
first step atMostOnce=true backoff="exponential" backoffMs=50 compensate={function: "first#compensate"} continueOnError=true function="first" jitter=true maxAttempts=3 onError="first#onError" onTimeout="retry" timeoutMs=5000
a step compensate={backoff: "linear", backoffMs: 1000, function: "a#compensate", maxAttempts: 5, timeoutMs: 120000} function="a" timeoutMs=1000
http step function="http~61e234430662"
ask step function="ask" maxAttempts=2
delay sleep wait={forMs: 61000}
sleep sleep wait={forMs: 5400000}
newYear sleep wait={untilMs: 1893456000000}
sleep_2 sleep wait={untilMs: 5}
sleep_3 sleep wait={computed: "sleep~:a#sleep"}
go signal signal="go" timeoutIsValue=true timeoutMs=604800000
again signal signal="go"
b branch choose="b#if"
b/then/a step function="b/then/a"
b/then/a_2 step function="b/then/a"
b/else/a step function="b/else/a"
half branch choose="half#if"
half/else/a step function="half/else/a"
c branch choose="c#on"
c/x/a step function="c/x/a"
c/y z/a step function="c/y z/a"
c/a step function="c/default/a"
l loop maxIterations=1000 test={until: "l#until"}
l/a step function="l/a"
w loop maxIterations=5 test={while: "w#while"}
w/a step function="w/a"
e forEach concurrency=4 items="e#items" maxIterations=9
e/a step function="e/a"
e/branch branch choose="e/branch~:a#if"
e/branch/then/a step function="e/branch~:a/then/a"
forEach forEach concurrency=1 items="forEach~947d05be2249#items"
forEach/a step function="forEach~947d05be2249/a"
p parallel join="first"
p/a/a step function="p/a/a"
p/a_2/a step function="p/a/a"
p/sleep/sleep sleep wait={forMs: 1}
q parallel finally="q#finally" join={n: 2}
q/db/a step function="q/db/a"
q/db/a_2 step function="q/db/a"
q/crm/a step function="q/crm/a"
parallel parallel join="all" onFailure="collect"
parallel/a/a step function="parallel~/a/a"
step step function="step~e899a2594bd5"
two step function="two"
fn step function="fn"
"#;

/// As version 0.1 made it.
const EVERYTHING_FORMER: &str = r#"
first step atMostOnce=true backoff="exponential" backoffMs=50 compensate={function: "first#compensate"} continueOnError=true function="first" jitter=true maxAttempts=3 onError="first#onError" onTimeout="retry" timeoutMs=5000
a step compensate={backoff: "linear", backoffMs: 1000, function: "a#compensate", maxAttempts: 5, timeoutMs: 120000} function="a" timeoutMs=1000
http step function="http"
ask step function="ask" maxAttempts=2
delay sleep wait={forMs: 61000}
sleep sleep wait={forMs: 5400000}
newYear sleep wait={untilMs: 1893456000000}
sleep_2 sleep wait={untilMs: 5}
sleep_3 sleep wait={computed: "sleep_3#sleep"}
go signal signal="go" timeoutIsValue=true timeoutMs=604800000
again signal signal="go"
b branch choose="b#if"
b/then/a step function="b/then/a"
b/then/a_2 step function="b/then/a_2"
b/else/a step function="b/else/a"
half branch choose="half#if"
half/else/a step function="half/else/a"
c branch choose="c#on"
c/x/a step function="c/x/a"
c/y z/a step function="c/y z/a"
c/a step function="c/default/a"
l loop maxIterations=1000 test={until: "l#until"}
l/a step function="l/a"
w loop maxIterations=5 test={while: "w#while"}
w/a step function="w/a"
e forEach concurrency=4 items="e#items" maxIterations=9
e/a step function="e/a"
e/branch branch choose="e/branch#if"
e/branch/then/a step function="e/branch/then/a"
forEach forEach concurrency=1 items="forEach#items"
forEach/a step function="forEach/a"
p parallel join="first"
p/a/a step function="p/a/a"
p/a_2/a step function="p/a_2/a"
p/sleep/sleep sleep wait={forMs: 1}
q parallel finally="q#finally" join={n: 2}
q/db/a step function="q/db/a"
q/db/a_2 step function="q/db/a_2"
q/crm/a step function="q/crm/a"
parallel parallel join="all" onFailure="collect"
parallel/a/a step function="parallel/a/a"
step step function="step"
two step function="two"
fn step function="fn"
"#;

#[test]
fn the_builder_makes_the_same() {
    let described = described(
        "import { createWorkflow } from 'rival'
        import { z } from 'zod'
        const [a, b, c] = [function a() {}, function b() {}, function c() {}]
        const crm = createWorkflow('crm').input(z.object({ id: z.string() })).step(c).onError(b)
        const wf = createWorkflow('userSetup').description('sets up').input(z.object({ id: z.string().optional() }))
        wf.step(a)
        wf.steps([b, { fn: c, maxAttempts: 2 }])
        export default wf.parallel('setup')
            .branch('db', (block) => block.step(a).sleep('1s'))
            .branch('crm', (block) => block.workflow(crm))
            .branch('deep', (block) => { block.parallel('inner').branch('x', (x) => x.step(a)).join(1).step(b) })
            .join('all').onFailure('collect').finally(() => 3)
            .branch({ name: 'choose', if: a, then: b })
            .parallel().branch('only', [a])
            .workflow(crm, { name: 'mapped', input: () => ({ id: '1' }) })
            .signal('go', { timeout: 5 })
            .loop({ name: 'l', body: [a], until: b }).forEach({ name: 'e', items: a, steps: [b] })
            .onError(a).timeout('2h').maxRetries(0).build()
        export const second = createWorkflow('second').step(a)
        createWorkflow('hidden').step(a).register()
        export const open = createWorkflow('open').step(a).parallel('p').branch('x', [a])",
    );
    let names: Vec<(&str, &Value)> = described["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), &it["exported"]))
        .collect();
    let (default, open, second) = (json!("default"), json!("open"), json!("second"));
    let expected = [("userSetup", &default), ("open", &open), ("second", &second), ("hidden", &Value::Null)];
    assert_eq!(names, expected);
    let workflow = &described["workflows"][0];
    let plan = plan(workflow);
    assert_eq!(outline(&plan), BUILT.trim());
    assert_eq!(
        (plan.on_error.as_ref().and_then(FunctionRef::named), plan.timeout_ms),
        (Some("#onError"), Some(7_200_000))
    );
    assert_eq!(workflow["nestedSchemas"]["mapped"]["required"], json!(["id"]));
    assert_eq!(workflow["nestedSchemas"].as_object().unwrap().len(), 2);
    assert_eq!(workflow["inputSchema"]["properties"]["id"]["type"], "string");
    assert_eq!(workflow["parses"], true);
    assert_eq!(workflow["functions"]["mapped#onError"]["role"], "onError");
}

const BUILT: &str = r#"
a step function="a"
b step function="b"
c step function="c" maxAttempts=2
setup parallel finally="setup#finally" join="all" onFailure="collect"
setup/db/a step function="setup/db/a"
setup/db/sleep sleep wait={forMs: 1000}
setup/crm/crm workflow input="setup/crm/crm#input" onError="setup/crm/crm#onError" workflow="crm"
setup/crm/crm/c step function="setup/crm/crm/c"
setup/deep/inner parallel join={n: 1}
setup/deep/inner/x/a step function="setup/deep/inner/x/a"
setup/deep/b step function="setup/deep/b"
choose branch choose="choose#if"
choose/then/b step function="choose/then/b"
parallel parallel join="all"
parallel/only/a step function="parallel~/only/a"
mapped workflow input="mapped#input" onError="mapped#onError" workflow="crm"
mapped/c step function="mapped/c"
go signal signal="go" timeoutMs=5
l loop maxIterations=1000 test={until: "l#until"}
l/a step function="l/a"
e forEach concurrency=1 items="e#items"
e/b step function="e/b"
"#;

#[test]
fn a_nested_file_is_called_after_the_identifier() {
    let mut flow = file(
        "/flows/main.js",
        "import { workflow, parallel } from 'rival'
        const payment = workflow('./pay.js')
        const both = parallel({ name: 'both', steps: [workflow('./pay.js'), workflow('./built.js')] })
        export const steps = [payment, workflow('./pay.js'), both, payment]",
    );
    flow = linked(linked(flow, "./pay.js", "/flows/pay.js"), "./built.js", "/flows/built.js");
    flow.step_names =
        vec![Some("payment".to_owned()), None, Some("both".to_owned()), Some("payment".to_owned())];
    let pay = file(
        "/flows/pay.js",
        "export const name = 'pay now'; function charge() {}; export const steps = [charge]",
    );
    let built = file(
        "/flows/built.js",
        "import { createWorkflow } from 'rival'; export default createWorkflow('built').step(function go() {})",
    );
    let mut lab = lab(vec![flow, pay, built]);
    let described = lab.describe("/flows/main.js").unwrap();
    assert_eq!(described["workflows"].as_array().unwrap().len(), 1);
    assert_eq!(
        outline(&plan(&described["workflows"][0])),
        "payment workflow workflow=\"pay now\"\n\
         payment/charge step function=\"payment/charge\"\n\
         pay now workflow workflow=\"pay now\"\n\
         pay now/charge step function=\"pay now/charge\"\n\
         both parallel join=\"all\"\n\
         both/pay now/pay now workflow workflow=\"pay now\"\n\
         both/pay now/pay now/charge step function=\"both/pay now/pay now/charge\"\n\
         both/built/built workflow workflow=\"built\"\n\
         both/built/built/go step function=\"both/built/built/go\"\n\
         payment_2 workflow workflow=\"pay now\"\n\
         payment_2/charge step function=\"payment/charge\""
    );
}

#[test]
fn an_entry_says_what_it_registers_and_launches() {
    let main = file(
        "/app/main.js",
        "import { createWorkflow, registerWorkflowFile, registerWorkflowsFromDirectory, WorkflowRegistry } from 'rival'
        import './lib/more.js'
        registerWorkflowsFromDirectory('./workflows')
        registerWorkflowsFromDirectory('../other/./deep')
        registerWorkflowFile('./one.js')
        const registry = new WorkflowRegistry()
        const direct = createWorkflow('direct').step(function go() {})
        registry.register(direct)
        const launched = registry.launch('direct', { n: 1 })
        globalThis.id = launched.runId
        globalThis.later = (await registry.launch(direct)).runId",
    );
    let main = linked(linked(main, "./one.js", "/app/one.js"), "./lib/more.js", "/app/lib/more.js");
    let more = file(
        "/app/lib/more.js",
        "import { createWorkflow } from 'rival'; createWorkflow('more').step(function go() {}).register()",
    );
    let mut lab = lab(vec![main, more]);
    let id = lab.number();
    lab.tell(&ToHost::Describe { id, realm: 1, file: "/app/main.js".to_owned(), entry: true });
    let described = lab.end().1.outcome.unwrap();
    assert_eq!(described["directories"], json!(["/app/workflows", "/other/deep"]));
    assert_eq!(described["files"], json!(["/app/one.js"]));
    let modules: Vec<(&str, &str)> = described["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["module"].as_str().unwrap()))
        .collect();
    assert_eq!(modules, [("more", "/app/lib/more.js"), ("direct", "/app/main.js")]);
    let launches = described["launches"].as_array().unwrap();
    assert_eq!((&launches[0]["workflow"], &launches[0]["input"]), (&json!("direct"), &json!({"n": 1})));
    assert_eq!((&launches[1]["workflow"], &launches[1]["input"]), (&json!("direct"), &Value::Null));
    assert_ne!(launches[0]["runId"], launches[1]["runId"]);
    // Asked again, it says the same.
    assert_eq!(lab.describe("/app/main.js").unwrap(), described);
}
