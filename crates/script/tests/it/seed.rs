//! The examples of the specification, as written there, with stubs for names that it does not define.

use rival_core::{NodeStatus, RunStatus};
use rival_engine::Engine;
use serde_json::json;

use crate::support::{Lab, result};

#[tokio::test]
async fn functions_take_their_context_in_any_form() {
    let lab = Lab::good(&[(
        "forms.ts",
        "const tree = { treeId: 'oak' }

function findTree(context) {
    // Access context properties
    console.log('finding tree')
    return tree
}

function findTree2({ lastStep, steps }) {
    // Use lastStep and steps
    console.log('finding tree')
    return { tree, first: lastStep.stepName, seen: steps.findTree.status }
}

function findTree3(context) {
    const { lastStep, steps, ...rest } = context
    return Object.keys(rest).sort()
}

export const steps = [findTree, findTree2, findTree3]
",
    )])
    .await;
    let run = lab.start("forms", json!(null)).await;
    let outcome = lab.wait(&run).await;
    assert_eq!(
        result(&outcome, "findTree2"),
        json!({"tree": {"treeId": "oak"}, "first": "findTree", "seen": "completed"})
    );
    assert_eq!(result(&outcome, "findTree3"), json!(["durable", "input", "log", "loop", "run", "state"]));
    let logs = lab.logs(&run).await;
    let lines: Vec<_> = logs.iter().map(|line| (line.node.as_str(), line.message.as_str())).collect();
    assert_eq!(lines, [("findTree", "finding tree"), ("findTree2", "finding tree")]);
}

#[tokio::test]
async fn steps_see_results_and_state_of_earlier_ones() {
    let lab = Lab::good(&[(
        "state.ts",
        "function findTree({ state }) {
    state.count = 3
    return { treeId: 'oak-123' }
}

// Shorthand: Access previous step result (use for simple linear flows)
function chopTree({ lastStep }) {
    const tree = lastStep.result
    // chop the tree
    return { chopped: tree.treeId }
}

// Access specific step by name (preferred)
function processTree({ steps }) {
    const tree = steps.findTree.result
    const chopped = steps.chopTree.result
    // process both
    return { tree, chopped }
}

// Access step state
function analyze({ steps }) {
    const count = steps.findTree.state.count
    return { count }
}

// Combine explicit and shorthand
function complexStep({ lastStep, steps }) {
    const previous = lastStep.result
    const specific = steps.findTree.result
    return { previous, specific }
}

// Set description for UI display
function describeTree({ steps, state }) {
    const tree = steps.findTree.result
    const pieces = 10

    // Set human-readable description
    state.description = `Chopped tree ${tree.treeId} into ${pieces} pieces`

    return { chopped: true, pieces }
}

export const steps = [findTree, chopTree, processTree, analyze, complexStep, describeTree]
",
    )])
    .await;
    let outcome = lab.run("state", json!(null)).await;
    assert_eq!(result(&outcome, "chopTree"), json!({"chopped": "oak-123"}));
    assert_eq!(
        result(&outcome, "processTree"),
        json!({"tree": {"treeId": "oak-123"}, "chopped": {"chopped": "oak-123"}})
    );
    assert_eq!(result(&outcome, "analyze"), json!({"count": 3}));
    assert_eq!(
        result(&outcome, "complexStep"),
        json!({"previous": {"count": 3}, "specific": {"treeId": "oak-123"}})
    );
    let described = outcome.result("describeTree").expect("it ran");
    assert_eq!(described.state.to_json(), json!({"description": "Chopped tree oak-123 into 10 pieces"}));
}

#[tokio::test]
async fn the_first_step_has_an_empty_last_step() {
    let lab = Lab::good(&[(
        "first.ts",
        "function first({ lastStep, input }) {
    return { result: lastStep.result === null, state: lastStep.state, stepName: lastStep.stepName, input: input ?? null }
}
export const steps = [first]
",
    )])
    .await;
    let output = lab.output("first", json!(null)).await;
    assert_eq!(output, json!({"result": true, "state": {}, "stepName": null, "input": null}));
}

const TREE_STEPS: &str = "export function findTree({ input }) {
    return { treeId: 'oak-123', location: input.location }
}

export function chopTree({ steps }) {
    return { chopped: true, pieces: 10 }
}
";

#[tokio::test]
async fn a_file_with_a_steps_array_is_a_workflow() {
    let lab = Lab::good(&[(
        "tree-processing.ts",
        "// workflows/tree-processing.ts
import { z } from 'zod'

// Optional: Input schema
export const input = z.object({
    treeType: z.string(),
    location: z.string().optional()
})

// Step functions
function findTree({ input }) {
    return { treeId: 'oak-123', location: input.location }
}

function chopTree({ steps, state }) {
    const tree = steps.findTree.result
    state.description = `Chopped tree ${tree.treeId}`
    return { chopped: true, pieces: 10 }
}

function processTree({ steps }) {
    return { processed: true, product: 'lumber' }
}

// Required: Steps array defines execution order
export const steps = [findTree, chopTree, processTree]
",
    )])
    .await;
    assert_eq!(lab.loaded.workflows, ["tree-processing"]);
    let outcome = lab.run("tree-processing", json!({"treeType": "oak", "location": "north"})).await;
    assert_eq!(outcome.status, RunStatus::Completed);
    assert_eq!(result(&outcome, "findTree"), json!({"treeId": "oak-123", "location": "north"}));
    assert_eq!(
        outcome.output.expect("it completed").to_json(),
        json!({"processed": true, "product": "lumber"})
    );
    let info = lab.engine.workflow("tree-processing").expect("it is registered");
    let schema = info.input_schema.expect("it has a schema");
    assert_eq!(schema["required"], json!(["treeType"]));
    assert_eq!(info.step_count, 3);
}

#[tokio::test]
async fn a_file_uses_steps_and_workflows_of_others() {
    let lab = Lab::good(&[
        ("steps/tree-steps.ts", TREE_STEPS),
        ("steps/validation.ts", "export function validateInput({ input }) { return { valid: input.treeType !== '' } }"),
        (
            "payment.ts",
            "function charge({ input, steps }) { return { paid: input.treeType, pieces: steps.chopTree.result.pieces } }
export const steps = [charge]",
        ),
        (
            "tree-processing.ts",
            "// workflows/tree-processing.ts
import { z } from 'zod'
import { workflow } from 'rival'

// Import reusable steps from other files
import { findTree, chopTree } from './steps/tree-steps'
import { validateInput } from './steps/validation'

// Optional configuration
export const input = z.object({ treeType: z.string() })
export const name = 'treeProcessing'  // Override inferred name

// Define steps inline
function processTree({ steps }) {
    return { processed: true }
}

// Nested workflow (becomes a step)
const paymentWorkflow = workflow('./payment.ts')

function finalize({ steps }) {
    return { completed: true, payment: steps.paymentWorkflow.result }
}

// Required: Steps array defines execution order
export const steps = [validateInput, findTree, chopTree, paymentWorkflow, processTree, finalize]
",
        ),
    ])
    .await;
    assert_eq!(lab.loaded.workflows, ["payment", "treeProcessing"]);
    let output = lab.output("treeProcessing", json!({"treeType": "oak"})).await;
    assert_eq!(output, json!({"completed": true, "payment": {"paid": "oak", "pieces": 10}}));
    let plan = lab.engine.workflow("treeProcessing").expect("it is registered").plan;
    let ids: Vec<_> = plan.block.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["validateInput", "findTree", "chopTree", "paymentWorkflow", "processTree", "finalize"]);
}

#[tokio::test]
async fn steps_take_configuration() {
    let lab = Lab::good(&[(
        "tree-processing.ts",
        "import { z } from 'zod'
export const input = z.object({ treeType: z.string() })

function findTree({ input }) {
    return { treeId: 'oak-123' }
}

function chopTree({ steps, run }) {
    if (run.attempt < 3) return new Promise(() => {})
    return { chopped: true, attempt: run.attempt }
}

function processTree({ steps }) {
    throw new Error('blunt saw')
}

function notifyTeam({ error, failedStep, workflowState }) {
    console.log(`${workflowState.workflowName}: ${failedStep.stepName}: ${error.message}`)
}

// Mix simple functions and config objects
export const steps = [
    findTree,  // Simple function
    { fn: chopTree, timeout: 200, onTimeout: 'retry', maxAttempts: 3, backoffMs: 1 },  // With timeout
    { fn: processTree, onError: notifyTeam }  // With error handler
]
",
    )])
    .await;
    let run = lab.start("tree-processing", json!({"treeType": "oak"})).await;
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Failed);
    assert_eq!(result(&outcome, "chopTree"), json!({"chopped": true, "attempt": 3}));
    assert_eq!(outcome.failed_step.expect("it failed").step_name, "processTree");
    let error = outcome.error.expect("it failed");
    assert_eq!(error.message, "blunt saw");
    let stack = error.origin.and_then(|origin| origin.stack).expect("it has a stack");
    assert!(stack.contains("tree-processing.ts:14:"), "{stack}");
    let logs = lab.logs(&run).await;
    assert_eq!(
        logs.last().map(|line| line.message.as_str()),
        Some("tree-processing: processTree: blunt saw")
    );
}

const BUILDER: &str = "import { createWorkflow } from 'rival'
import { z } from 'zod'

function findTree({ input }) { return { kind: input.treeType } }
function chopTree({ steps }) { return { chopped: steps.findTree.result.kind } }
function processTree({ lastStep }) { return { processed: lastStep.result.chopped } }
function customErrorHandler() {}

const workflow = createWorkflow('treeProcessing')
    .input(z.object({
        treeType: z.string(),
        location: z.string()
    }))
    .steps([
        { fn: findTree, timeout: 30000, onTimeout: 'retry', maxAttempts: 3 },
        { fn: chopTree },
        { fn: processTree, onError: customErrorHandler }
    ])
    .register()

const small = createWorkflow('myWorkflow')
    .input(z.object({
        treeType: z.string(),
        location: z.string().optional()
    }))
    .step(findTree)
    .step(chopTree)
    .register()
";

#[tokio::test]
async fn builders_register_workflows() {
    let lab = Lab::good(&[("builder.ts", BUILDER)]).await;
    assert_eq!(lab.loaded.workflows, ["myWorkflow", "treeProcessing"]);
    let output = lab.output("treeProcessing", json!({"treeType": "oak", "location": "north"})).await;
    assert_eq!(output, json!({"processed": "oak"}));
    assert_eq!(lab.output("myWorkflow", json!({"treeType": "elm"})).await, json!({"chopped": "elm"}));
}

#[tokio::test]
async fn an_entry_registers_folders_and_files() {
    let lab = Lab::of(Engine::builder(), crate::support::settings()).await;
    let folder = lab.folder.path();
    crate::support::write(
        folder,
        &[
            ("workflows/a.ts", "function one() { return 1 }\nexport const steps = [one]"),
            ("other/tree-processing.ts", "function two() { return 2 }\nexport const steps = [two]"),
            (
                "main.ts",
                "import { registerWorkflowsFromDirectory, registerWorkflowFile, createWorkflow, WorkflowRegistry } from 'rival'
registerWorkflowsFromDirectory('./workflows')
registerWorkflowFile('./other/tree-processing.ts')
const three = createWorkflow('three').step(function three() { return 3 })
const registry = new WorkflowRegistry()
registry.register(three)
",
            ),
        ],
    );
    let loaded = lab.scripts.register(&lab.engine, folder.join("main.ts")).await.expect("it is loaded");
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(loaded.workflows, ["a", "three", "tree-processing"]);
    assert_eq!(lab.output("a", json!(null)).await, json!(1));
    assert_eq!(lab.output("tree-processing", json!(null)).await, json!(2));
    assert_eq!(lab.output("three", json!(null)).await, json!(3));
}

#[tokio::test]
async fn nested_workflows_of_both_kinds_are_steps() {
    let lab = Lab::good(&[
        (
            "payment.ts",
            "function pay({ input }) { return { paid: input.amount } }\nexport const steps = [pay]",
        ),
        (
            "order.ts",
            "import { workflow, createWorkflow } from 'rival'
function validateOrder({ input }) { return input }
function sendEmail() { return 'email' }
function sendSms({ lastStep }) { return lastStep.result + ', sms' }
function finalizeOrder({ steps }) { return [steps.paymentFlow.result, steps.notificationFlow.result] }

// Reference a file-based workflow
const paymentFlow = workflow('./payment.ts')

// Or use a builder-created workflow directly
const notificationFlow = createWorkflow('notify').step(sendEmail).step(sendSms)

// Include in steps array - treated as a single step
export const steps = [
    validateOrder,
    paymentFlow,        // Runs entire payment workflow
    notificationFlow,   // Runs entire notification workflow
    finalizeOrder
]
",
        ),
    ])
    .await;
    let output = lab.output("order", json!({"amount": 7})).await;
    assert_eq!(output, json!([{"paid": 7}, "email, sms"]));
}

#[tokio::test]
async fn steps_skip_themselves() {
    let lab = Lab::good(&[(
        "alert.ts",
        "function sendUrgentAlert({ input, state }) {
    if (input.priority !== 'high') {
        state.skipped = true
        state.description = 'Skipped: priority is not high'
        return null
    }

    // ... send alert
    return { sent: true }
}
export const steps = [sendUrgentAlert]
",
    )])
    .await;
    let low = lab.run("alert", json!({"priority": "low"})).await;
    let step = low.result("sendUrgentAlert").expect("it ran");
    assert_eq!(step.status, NodeStatus::Skipped);
    assert_eq!(step.state.to_json()["description"], "Skipped: priority is not high");
    assert_eq!(lab.output("alert", json!({"priority": "high"})).await, json!({"sent": true}));
}

#[tokio::test]
async fn step_errors_say_what_happens_next() {
    let lab = Lab::good(&[(
        "errors.ts",
        "import { StepError } from 'rival'

let calls = 0

function findTree({ input }) {
    try {
        // ... do something
        calls += 1
        if (input.fault) throw Object.assign(new Error('late'), { code: input.fault })
        return calls
    } catch (e) {
        if (e.code === 'TIMEOUT') {
            // Retry this error
            throw new StepError('Database timeout', {
                behavior: 'retry',
                maxAttempts: 3,
                backoff: 'exponential',
                backoffMs: 1
            })
        }
        // Stop workflow on this error
        throw new StepError('Invalid data', { behavior: 'stop' })
    }
}

function soft() {
    throw new StepError('not so bad', { behavior: 'continue' })
}

function last({ steps }) {
    return { soft: steps.soft.status }
}

export const onError = ({ error, failedStep, workflowState }) => {
    // error: the exception/error that occurred
    // failedStep: { result, state, stepName, status }
    // workflowState: { input, steps, status, runId, workflowName }
    sendToSlack(`Workflow ${workflowState.workflowName} failed at ${failedStep.stepName}`)
}

function sendToSlack(text) { console.log(text) }

export const steps = [{ fn: findTree, maxAttempts: 5 }, soft, last]
",
    )])
    .await;
    assert_eq!(lab.output("errors", json!({})).await, json!({"soft": "failed"}));
    let run = lab.start("errors", json!({"fault": "TIMEOUT"})).await;
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.error.as_ref().expect("it failed").message, "Database timeout");
    let view = lab.engine.get(&run).await.expect("it is there");
    assert_eq!(view.steps[0].retry_count, 2);
    let lines = lab.logs(&run).await;
    assert_eq!(lines.last().expect("the handler wrote").message, "Workflow errors failed at findTree");
    let run = lab.start("errors", json!({"fault": "OTHER"})).await;
    assert_eq!(lab.wait(&run).await.error.expect("it failed").message, "Invalid data");
    assert_eq!(lab.engine.get(&run).await.expect("it is there").steps[0].retry_count, 0);
}

#[tokio::test]
async fn results_are_typed_and_checked() {
    let lab = Lab::good(&[
        (
            "with-zod.ts",
            "// workflows/tree-processing.ts
import { z } from 'zod'
import { Results } from 'rival'

// Define result schemas with Zod
export const results = Results({
    findTree: z.object({ treeId: z.string(), species: z.string() }),
    chopTree: z.object({ pieces: z.number() })
})

function findTree({ input }): z.infer<typeof results.schemas.findTree> {
    return { treeId: 'oak-123', species: input?.wrong ? 7 as any : 'oak' }
}

function chopTree({ steps }: { steps: typeof results.Steps }) {
    steps.findTree.result.treeId   // fully typed, autocomplete works
    return { pieces: 10 }
}

export const steps = [findTree, chopTree]
",
        ),
        (
            "plain.ts",
            "import { Results } from 'rival'

export const results = Results<{
    findTree: { treeId: string; species: string }
    chopTree: { pieces: number }
}>()

function findTree() { return { treeId: 'elm', species: 'elm' } }

function chopTree({ steps }: { steps: typeof results.Steps }) {
    steps.findTree.result.treeId   // fully typed
    return { pieces: steps.findTree.result.treeId.length }
}

export const steps = [findTree, chopTree]
",
        ),
    ])
    .await;
    assert_eq!(lab.output("plain", json!(null)).await, json!({"pieces": 3}));
    assert_eq!(lab.output("with-zod", json!(null)).await, json!({"pieces": 10}));
    let outcome = lab.run("with-zod", json!({"wrong": true})).await;
    let error = outcome.error.expect("its result is wrong");
    assert_eq!(error.code, "invalid_result");
    assert!(error.message.contains("species"), "{}", error.message);
}

#[tokio::test]
async fn logs_carry_fields() {
    let lab = Lab::good(&[(
        "logs.ts",
        "const findTreeInDatabase = (kind) => ({ id: kind + '-1' })

function findTree({ input, log }) {
    log.info({ treeType: input.treeType }, 'Searching for tree')

    const tree = findTreeInDatabase(input.treeType)

    log.debug({ treeId: tree.id }, 'Tree found')
    log.warn('odd')
    return tree
}
export const steps = [findTree]
",
    )])
    .await;
    let run = lab.start("logs", json!({"treeType": "oak"})).await;
    lab.wait(&run).await;
    let logs = lab.logs(&run).await;
    let seen: Vec<_> = logs
        .iter()
        .map(|line| (line.level.word(), line.message.as_str(), line.fields.as_ref().map(|it| it.to_json())))
        .collect();
    assert_eq!(
        seen,
        [
            ("info", "Searching for tree", Some(json!({"treeType": "oak"}))),
            ("debug", "Tree found", Some(json!({"treeId": "oak-1"}))),
            ("warn", "odd", None),
        ]
    );
}

#[tokio::test]
async fn branches_loops_and_parallel_blocks_run() {
    let lab = Lab::good(&[(
        "flow.ts",
        "import { createWorkflow } from 'rival'
function validateOrder({ input }) { return { isValid: input.valid } }
function processPayment() { return 'paid' }
function shipOrder() { return 'shipped' }
function notifyCustomer() { return 'told' }
function cancelOrder() { return 'cancelled' }
function fetchBatch() { return { n: 0 } }
function processBatch({ loop }) { return loop.index }
function fetchNextBatch({ loop }) { return { done: loop.index === 2 } }
function sendEmail() { return 'email' }
function sendSms() { return 'sms' }
function updateCRM() { return 'crm' }
function finalize({ steps }) {
    return { choice: steps.checkValid.result, batches: steps.processBatches.result, sent: steps.notifications.result }
}

export default createWorkflow('flow')
    .step(validateOrder)
    .branch({
        name: 'checkValid',
        if: ({ steps }) => steps.validateOrder.result.isValid,
        then: [processPayment, shipOrder],
        else: [notifyCustomer, cancelOrder]
    })
    .step(fetchBatch)
    .loop({
        name: 'processBatches',
        body: [processBatch, fetchNextBatch],
        until: ({ steps }) => steps.fetchNextBatch.result.done
    })
    .parallel({
        name: 'notifications',
        steps: [sendEmail, sendSms, updateCRM]
    })
    .step(finalize)
",
    )])
    .await;
    let sent = json!({"sendEmail": "email", "sendSms": "sms", "updateCRM": "crm"});
    let output = lab.output("flow", json!({"valid": true})).await;
    assert_eq!(output, json!({"choice": "shipped", "batches": {"done": true}, "sent": sent}));
    let output = lab.output("flow", json!({"valid": false})).await;
    assert_eq!(output["choice"], "cancelled");
}

#[tokio::test]
async fn parallel_blocks_are_fluent() {
    let lab = Lab::good(&[(
        "userSetup.ts",
        "import { createWorkflow } from 'rival'
function createDatabaseUser() { return 'user' }
function createProfile() { return 'profile' }
const createCRMProfileWorkflow = createWorkflow('crmProfile').step(createProfile)
function sendWelcomeEmail() { return 'email' }
function postSetup({ steps }) { return steps.setup.result }

export const wf = createWorkflow('userSetup')
  .parallel('setup')
    .branch('db', (b) => b.step(createDatabaseUser))
    .branch('crm', (b) => b.workflow(createCRMProfileWorkflow))
    .branch('email', (b) => b.step(sendWelcomeEmail))
    .join('all')
    .finally((ctx) => ({ branchCount: 3, joined: ctx.result }))
  .step(postSetup)
  .build();
",
    )])
    .await;
    let output = lab.output("userSetup", json!(null)).await;
    assert_eq!(
        output,
        json!({"branchCount": 3, "joined": {"db": "user", "crm": "profile", "email": "email"}})
    );
}

#[tokio::test]
async fn predefined_steps_need_no_code() {
    let server = crate::web::serve().await;
    let file = format!(
        "import {{ httpStep, delayStep, createWorkflow }} from 'rival'
function validateInput() {{ return 'ok' }}
function processResponse({{ steps }}) {{ return steps.http.result }}
export const steps = [
    validateInput,
    httpStep({{ url: '{server}/data', method: 'POST', body: {{ a: 1 }} }}),
    delayStep({{ seconds: 0.01 }}),  // Wait
    processResponse
]
const workflow = createWorkflow('built')
workflow.step(httpStep({{ url: '{server}/data', method: 'GET' }}))
workflow.step(delayStep({{ ms: 1 }}))
workflow.register()
"
    );
    let lab = Lab::good(&[("predefined.ts", &file)]).await;
    let outcome = lab.run("predefined", json!(null)).await;
    let output = outcome.output.clone().expect("it completed").to_json();
    assert_eq!((&output["body"]["method"], &output["body"]["path"]), (&json!("POST"), &json!("/data")));
    assert_eq!(output["body"]["body"], json!({"a": 1}));
    let http = outcome.result("http").expect("it ran").state.to_json();
    let description = http["description"].as_str().expect("it describes itself");
    assert!(description.starts_with("POST /data -> 200 ("), "{description}");
    assert_eq!(lab.run("built", json!(null)).await.status, RunStatus::Completed);
}

#[tokio::test]
async fn a_registry_launches_and_cancels() {
    let lab = Lab::good(&[(
        "registry.ts",
        "import { WorkflowRegistry, createWorkflow } from 'rival'
const registry = new WorkflowRegistry()
createWorkflow('sleeper').step(function before() { return 1 }).sleep({ hours: 1 }).register()

async function launch({ durable }) {
    const { runId } = registry.launch('sleeper', {})
    const active = async () => (await registry.getActiveRuns('sleeper')).map((run) => run.runId)
    await registry.launch('sleeper', {})
    while (!(await active()).includes(runId)) await new Promise((go) => setTimeout(go, 5))
    const workflowActor = registry.getWorkflow(runId)
    await workflowActor.cancel()
    const known = (await registry.list()).map((it) => it.name)
    return { cancelled: !(await active()).includes(runId), known }
}
export const steps = [launch]
",
    )])
    .await;
    let output = lab.output("registry", json!(null)).await;
    assert_eq!(output, json!({"cancelled": true, "known": ["registry", "sleeper"]}));
}
