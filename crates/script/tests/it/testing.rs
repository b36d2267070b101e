//! Tests written in TypeScript.

use expect_test::{Expect, expect};
use rival_script::testing::{self, TestNews};

use crate::support::{settings, write};

const FLOW: &str = "import { sleep } from 'rival'
function charge({ input }) { return { paid: input.amount } }
function ship() { throw new Error('no road') }
export const steps = [charge, sleep('3 days'), { fn: ship, maxAttempts: 2, backoff: 'exponential' }]
";

async fn check(test: &str, told: Expect) {
    check_project(&[("flow.ts", FLOW), ("flow.test.ts", test)], told).await;
}

/// Runs the tests of a folder, and compares what they tell.
async fn check_project(files: &[(&str, &str)], told: Expect) {
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), files);
    let files = testing::find(&[dir.path().to_owned()]).expect("the folder is read");
    let folder = format!("{}/", dir.path().canonicalize().expect("it is there").display());
    let mut lines = Vec::new();
    testing::run(settings(), &files, "", |news| match news {
        TestNews::Tested(test) => {
            let mark = if test.failure.is_none() { "ok" } else { "FAILED" };
            lines.push(format!("{mark} {}", test.name));
            lines.extend(test.lines.iter().map(|line| format!("  > {line}")));
            if let Some(failure) = test.failure {
                lines.push(format!("  {}", failure.message));
                lines.extend(failure.stack.lines().map(|line| format!("  {}", line.trim())));
            }
        }
        TestNews::Problem(problem) => lines.push(problem.to_string()),
    })
    .await
    .expect("the tests run");
    let text = lines.join("\n").replace(&folder, "").replace(folder.trim_start_matches('/'), "");
    told.assert_eq(&text);
}

#[tokio::test]
async fn workflows_run_with_mocks_and_in_no_time() {
    let test = "import { expect, runWorkflow, test } from 'rival/test'
test('it is paid and shipped', async () => {
    const run = await runWorkflow('./flow.ts', {
        input: { amount: 7 },
        mocks: { ship: ({ steps, run }) => { if (run.attempt === 1) throw new Error('not yet'); return steps.charge.result.paid } },
    })
    expect(run.status).toBe('completed')
    expect(run.output).toBe(7)
    console.log('all is well')
})
test('without a mock it fails', async () => {
    const run = await runWorkflow('./flow.ts', { input: { amount: 7 } })
    expect(run.failedStep.stepName).toBe('ship')
    expect(run.error.message).toBe('no road')
})
test('values do as well', async () => {
    const run = await runWorkflow('./flow.ts', { input: {}, mocks: { charge: { paid: 1 }, ship: 'gone' } })
    expect(run.output).toEqual('gone')
})
";
    check(
        test,
        expect![[r#"
            ok it is paid and shipped
              > all is well
            ok without a mock it fails
            ok values do as well"#]],
    )
    .await;
}

#[tokio::test]
async fn failures_say_what_and_where() {
    let test = "import { expect, runWorkflow, test } from 'rival/test'
type Sum = { total: number }
test('a wrong expectation', () => {
    const sum: Sum = { total: 3 }
    expect(sum).toEqual({ total: 4 })
})
test('a mock of nothing', async () => {
    await runWorkflow('./flow.ts', { mocks: { shp: 1 } })
})
test('a file that is not there', async () => {
    await runWorkflow('./flaw.ts')
})
";
    check(
        test,
        expect![[r#"
            FAILED a wrong expectation
              expect(..).toEqual(..) failed
              expected: { total: 4 }
              received: { total: 3 }
              they differ at total
              at <anonymous> (flow.test.ts:5:17)
            FAILED a mock of nothing
              no step is called `shp`; there are: charge, ship
              at <anonymous> (flow.test.ts:8:11)
            FAILED a file that is not there
              flaw.ts cannot be read: No such file or directory (os error 2)
              at <anonymous> (flow.test.ts:11:11)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_test_file_that_does_not_load_is_a_problem() {
    check(
        "import { test } from 'rival/test'\ntest('a', () => {",
        expect![[r#"
        flow.test.ts:2:18: Expected `}` but found `EOF`
            The line is: test('a', () => {"#]],
    )
    .await;
}

#[tokio::test]
async fn a_test_file_without_tests_is_one_too() {
    check(
        "export const nothing = 1",
        expect![[r#"
        flow.test.ts:1:1: the file has no tests
            write some: test('what must hold', async () => { … }), from 'rival/test'"#]],
    )
    .await;
}

#[tokio::test]
async fn time_limits_act_while_a_step_is_at_work() {
    let flow = "const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function slow() { await later(1_000); return 'done' }
function never() { return new Promise(() => {}) }
function spins() { for (;;) {} }
import { createWorkflow } from 'rival'
export const short = createWorkflow('short').step({ fn: slow, timeout: '300ms' })
export const exact = createWorkflow('exact').step({ fn: slow, timeout: '1s' })
export const long = createWorkflow('long').step({ fn: slow, timeout: '1100ms' })
export const limited = createWorkflow('limited').step({ fn: never, timeout: '1 hour' })
export const busy = createWorkflow('busy').step({ fn: spins, timeout: '300ms' })
export const endless = createWorkflow('endless').step(never)
";
    let test = "import { expect, runWorkflow, test } from 'rival/test'
for (const name of ['short', 'exact', 'limited', 'busy']) {
    test(`${name} is too long`, async () => {
        const run = await runWorkflow('./flow.ts', { workflow: name })
        expect(run.error).toMatchObject({ code: 'timeout' })
    })
}
test('a limit that is long enough', async () => {
    const before = Date.now()
    const run = await runWorkflow('./flow.ts', { workflow: 'long' })
    expect(run.output).toBe('done')
    expect(Date.now() - before).toBe(1_000)
})
test('a step without a limit', async () => {
    await runWorkflow('./flow.ts', { workflow: 'endless' })
})
test('a test that never ends', () => new Promise(() => {}))
test('another one after that', () => {})
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok short is too long
            ok exact is too long
            ok limited is too long
            ok busy is too long
            ok a limit that is long enough
            FAILED a step without a limit
              the run waits for `never`, attempt 1, called 0 ms ago, and no amount of time will change that
              at <anonymous> (flow.test.ts:15:11)
            FAILED a test that never ends
              it waits for something that never comes: a promise that nothing settles
            ok another one after that"#]],
    )
    .await;
}

#[tokio::test]
async fn dates_and_timers_jump_over_sleeps() {
    let flow = "import { sleep } from 'rival'
const DAY = 24 * 3600 * 1000
function first() { return { now: Date.now(), at: new Date().toISOString(), ticks: performance.now() } }
async function second({ steps }) {
    const before = Date.now()
    await new Promise((resolve) => setTimeout(resolve, DAY))
    const { now, at, ticks } = steps.first.result
    return {
        slept: (before - now) / DAY,
        waited: (Date.now() - before) / DAY,
        iso: (new Date().getTime() - new Date(at).getTime()) / DAY,
        text: Date().length > 20,
        own: new Date(5).getTime(),
        kind: new Date() instanceof Date && new Date().constructor === Date,
        // Each version of a file has a world of its own, which may be in another process.
        ticks: performance.now() - ticks > 0 || ticks === 0,
    }
}
async function third({ durable }) {
    // A step that sleeps for long is called again.
    const before = await durable.once('before', () => Date.now())
    await durable.sleep('2 days')
    return (Date.now() - before) / DAY
}
export const steps = [first, sleep('7 days'), second, third]
";
    let test = "import { advance, expect, runWorkflow, test } from 'rival/test'
test('a week', async () => {
    const began = Date.now()
    const run = await runWorkflow('./flow.ts')
    expect(run.results.second.result).toEqual({
        slept: 7, waited: 1, iso: 8, text: true, own: 5, kind: true, ticks: true,
    })
    expect(run.output).toBe(2)
    expect(Date.now() - began).toBe(10 * 24 * 3600 * 1000)
})
test('the next test begins today', async () => {
    const began = Date.now()
    const ticks = []
    const timer = setInterval(() => ticks.push(Date.now() - began), 400)
    await advance('1s')
    clearInterval(timer)
    expect(ticks).toEqual([400, 800])
    await advance({ hours: 1 })
    expect(Date.now() - began).toBe(3_601_000)
})
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok a week
            ok the next test begins today"#]],
    )
    .await;
}

#[tokio::test]
async fn requests_are_answered_by_the_test() {
    let flow = "async function rate({ input }) {
    const response = await fetch(input.url, { method: input.method, body: input.body, signal: AbortSignal.timeout(2_000) })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
export const steps = [rate]
";
    let test = "import { expect, runWorkflow, test } from 'rival/test'
const rate = async (input, fetch) => {
    const run = await runWorkflow('./flow.ts', { input, fetch })
    return run.error ?? run.output
}
test('by URL', async () => {
    const fetch = {
        'https://rates.example/eur': { rate: 1.5 },
        'POST https://rates.example/*': async (request) => new Response(await request.text(), { status: 201 }),
        'https://rates.example': 'home',
        'https://down.example/?a=1': Response.error(),
        'https://slow.example/*': () => new Promise((resolve) => setTimeout(() => resolve('late'), 3_000)),
    }
    expect(await rate({ url: 'https://rates.example/eur?day=1' }, fetch))
        .toEqual({ status: 200, type: 'application/json', text: '{\"rate\":1.5}' })
    expect(await rate({ url: 'https://rates.example/usd', method: 'POST', body: 'häh' }, fetch))
        .toMatchObject({ status: 201, text: 'häh' })
    expect(await rate({ url: 'https://rates.example' }, fetch)).toMatchObject({ text: 'home' })
    expect(await rate({ url: 'https://down.example/?a=1' }, fetch)).toMatchObject({ message: 'https://down.example/?a=1 cannot be reached: the test says so' })
    expect(await rate({ url: 'https://slow.example/x' }, fetch)).toMatchObject({ message: 'The operation timed out' })
})
test('by a function', async () => {
    const fetch = (request) => (request.method === 'PUT' ? Response.json(request.headers.get('content-type')) : undefined)
    expect(await rate({ url: 'https://a.example/', method: 'PUT', body: 'x' }, fetch)).toMatchObject({ text: '\"text/plain;charset=UTF-8\"' })
    console.log((await rate({ url: 'https://a.example/' }, fetch)).message)
})
test('no mock', async () => {
    console.log((await rate({ url: 'https://a.example/' }, { 'https://b.example/': 1 })).message)
})
test('real ones are asked for', async () => {
    console.log((await rate({ url: 'http://127.0.0.1:1/' }, 'real')).code)
})
test('the test itself sends real ones', async () => {
    await expect(fetch('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'http_connect' })
})
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok by URL
            ok by a function
              > no mock takes the request GET https://a.example/; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests
              > no mock takes the request GET https://a.example/; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests
            ok no mock
              > no mock takes the request GET https://a.example/; there are: https://b.example/; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests
              > no mock takes the request GET https://a.example/; there are: https://b.example/; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests
            ok real ones are asked for
              > http_connect
            ok the test itself sends real ones"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_done_once_and_children_are_mocked() {
    let flow = "import { createWorkflow } from 'rival'
async function pay({ durable, input }) {
    const token = await durable.once('token', () => 'real token')
    const charged = await durable.once('charge', () => { throw new Error('a real charge') })
    return { token, charged, invoice: await durable.run('invoice', { amount: input.amount }) }
}
export const order = createWorkflow('order').step(pay)
async function send() { throw new Error('a real letter') }
function number({ input }) { return input.amount + 1_000 }
export const invoice = createWorkflow('invoice').step(number).step(send)
";
    let test = "import { expect, runWorkflow, test } from 'rival/test'
const base = { workflow: 'order', input: { amount: 7 }, once: { charge: () => 'paid' } }
test('a child', async () => {
    const seen = []
    const run = await runWorkflow('./flow.ts', { ...base, children: { invoice: ({ input }) => { seen.push(input); return 'sent' } } })
    expect(run.output).toEqual({ token: 'real token', charged: 'paid', invoice: 'sent' })
    expect(seen).toEqual([{ amount: 7 }])
})
test('a step of a child', async () => {
    const run = await runWorkflow('./flow.ts', { ...base, mocks: { send: ({ steps }) => steps.number.result } })
    expect(run.output.invoice).toBe(1_007)
})
test('a step of a child, by the name of its workflow', async () => {
    const run = await runWorkflow('./flow.ts', { ...base, mocks: { 'invoice/send': 'by air' } })
    expect(run.output.invoice).toBe('by air')
})
test('a child that fails', async () => {
    const invoice = () => { throw new Error('no paper') }
    const run = await runWorkflow('./flow.ts', { ...base, children: { invoice } })
    expect(run.error.message).toMatch('no paper')
})
test('what is done once may fail', async () => {
    const charge = () => { throw Object.assign(new Error('no money'), { code: 'card' }) }
    const run = await runWorkflow('./flow.ts', { ...base, once: { charge }, children: { invoice: 1 } })
    expect(run.error.code).toBe('card')
})
test('a name that is not there', () => runWorkflow('./flow.ts', { ...base, mocks: { sent: 1 } }))
test('which one is not said', () => runWorkflow('./flow.ts'))
test('one that is not there', () => runWorkflow('./flow.ts', { workflow: 'ordr' }))
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok a child
            ok a step of a child
            ok a step of a child, by the name of its workflow
            ok a child that fails
            ok what is done once may fail
            FAILED a name that is not there
              no step is called `sent`; there are: invoice/number, invoice/send, order/pay
              at <anonymous> (flow.test.ts:27:70)
            FAILED which one is not said
              say which `workflow` of the file is to run: invoice, order
              at <anonymous> (flow.test.ts:28:37)
            FAILED one that is not there
              the file has no workflow `ordr`; there are: invoice, order
              at <anonymous> (flow.test.ts:29:37)"#]],
    )
    .await;
}

#[tokio::test]
async fn workflows_that_a_test_builds_run_in_place() {
    let flow = "import { createWorkflow } from 'rival'
let runs = 0
export const counted = createWorkflow('counted').step(function count() { return ++runs })
export const made = (say) => createWorkflow('made').step(function saying() { return say })
";
    let test = "import { createWorkflow } from 'rival'
import { z } from 'zod'
import { expect, runWorkflow, test } from 'rival/test'
import { counted, made } from './flow.ts'
const top = createWorkflow('top').step(async function asks() { return (await fetch('https://a.example/')).json() })
test('it closes over the test', async () => {
    const seen = []
    const flow = createWorkflow('inner')
        .input(z.object({ n: z.number().transform((n) => n * 2) }))
        .step(function one({ input }) { seen.push(input.n) })
        .branch({ if: ({ input }) => input.n > 2, then: [function large() { seen.push('large') }] })
        .sleep('3 days')
        .step(async function two({ durable }) { return durable.run('child', { of: 'inner' }) })
    const child = createWorkflow('child').step(function tell({ input }) { return [input.of, ...seen] })
    const run = await runWorkflow(flow, { input: { n: 2 }, workflows: [child] })
    expect(run.output).toEqual(['inner', 2 * 2, 'large'])
    await expect(runWorkflow(flow, { input: { n: 'x' }, workflows: [child] })).rejects.toThrow('number')
    expect((await runWorkflow(flow, { input: { n: 1 }, mocks: { one: null, 'inner/two': 'mocked' } })).output).toBe('mocked')
})
test('one of the top of the test file, with requests', async () => {
    const run = await runWorkflow(top, { fetch: { 'https://a.example/': [1] } })
    expect(run.output).toEqual([1])
})
test('one that a function of another file makes', async () => {
    expect((await runWorkflow(made('hi'))).output).toBe('hi')
})
test('one of a file is fresh in each run', async () => {
    expect((await runWorkflow(counted)).output).toBe(1)
    expect((await runWorkflow(counted)).output).toBe(1)
})
test('not a workflow', () => runWorkflow({ steps: [] }))
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok it closes over the test
            ok one of the top of the test file, with requests
            ok one that a function of another file makes
            ok one of a file is fresh in each run
            FAILED not a workflow
              a test runs a file such as './order.ts', or a workflow made with createWorkflow(..)
              at <anonymous> (flow.test.ts:31:30)"#]],
    )
    .await;
}

#[tokio::test]
async fn signals_come_in_time() {
    let flow = "import { createWorkflow } from 'rival'
export const approval = createWorkflow('approval')
    .sleep('1 hour')
    .signal('approved', { timeout: '3 days' })
    .step(function said({ lastStep }) { return { by: lastStep.result.by, at: Date.now() } })
export const inside = createWorkflow('inside').step(async function asks({ durable }) {
    const answer = await durable.signal('answer', { timeout: '1 day', timeoutIsValue: true })
    return answer ?? 'nobody answered'
})
";
    let test = "import { advance, expect, runWorkflow, startWorkflow, test } from 'rival/test'
const approval = { workflow: 'approval' }
const HOUR = 3_600_000
test('after two days', async () => {
    const began = Date.now()
    const signals = [{ name: 'approved', payload: { by: 'Ada' }, after: '2 days' }]
    const run = await runWorkflow('./flow.ts', { ...approval, signals })
    expect(run.output).toEqual({ by: 'Ada', at: began + 48 * HOUR })
})
test('too late', async () => {
    const run = await runWorkflow('./flow.ts', { ...approval, signals: [{ name: 'approved', after: '5 days' }] })
    expect(run.error.code).toBe('signal_timeout')
})
test('at the start', async () => {
    const run = await runWorkflow('./flow.ts', { ...approval, signals: [{ name: 'approved', payload: { by: 'Bob' } }] })
    expect(run.output.by).toBe('Bob')
})
test('when the run waits for it', async () => {
    const began = Date.now()
    const run = await startWorkflow('./flow.ts', approval)
    await run.untilWaitingFor('approved')
    expect(Date.now() - began).toBe(HOUR)
    await advance('5h')
    expect(Date.now() - began).toBe(6 * HOUR)
    await run.signal('approved', { by: 'Eve' })
    expect((await run.result()).output).toEqual({ by: 'Eve', at: began + 6 * HOUR })
    expect((await run.result()).runId).toBe(run.runId)
})
test('inside of a step, of two runs side by side', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => startWorkflow('./flow.ts', { workflow: 'inside' })))
    await Promise.all([one, two].map((run) => run.untilWaitingFor('answer')))
    await one.signal('answer', 'yes')
    expect((await Promise.all([one.result(), two.result()])).map((it) => it.output)).toEqual(['yes', 'nobody answered'])
})
test('never', async () => {
    const run = await startWorkflow('./flow.ts', { workflow: 'inside' })
    await run.untilWaitingFor('approved')
})
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
            ok after two days
            ok too late
            ok at the start
            ok when the run waits for it
            ok inside of a step, of two runs side by side
            FAILED never
              the run never waits for the signal `approved`: the run completed 0 ms ago
              at <anonymous> (flow.test.ts:37:15)"#]],
    )
    .await;
}

#[tokio::test]
async fn an_option_that_there_is_not_is_refused() {
    let test = "import { runWorkflow, startWorkflow, test } from 'rival/test'
test('a slip', async () => {
    await runWorkflow('./flow.ts', { mock: { ship: 1 } })
})
test('another', async () => {
    await startWorkflow('./flow.ts', { signals: [{ name: 'go', later: '1 day' }] })
})
";
    check(
        test,
        expect![[r#"
        FAILED a slip
          runWorkflow has no option `mock`; did you mean `mocks`?
          at <anonymous> (flow.test.ts:3:11)
        FAILED another
          a signal of startWorkflow has no option `later`; did you mean `after`?
          at <anonymous> (flow.test.ts:6:11)"#]],
    )
    .await;
}

#[tokio::test]
async fn what_was_undone_is_seen() {
    let flow = "import { parallel } from 'rival'
function reserve() { return 'r-1' }
function charge() { return 'p-1' }
function ship() { throw new Error('no road') }
function giveBack() {}
function refund() { throw new Error('closed') }
export const steps = [
    parallel({ name: 'checks', branches: { stock: [{ fn: reserve, compensate: giveBack }] } }),
    { fn: charge, compensate: refund },
    ship,
]
";
    let test = "import { expect, runWorkflow, test } from 'rival/test'
test('it is taken back', async () => {
    const run = await runWorkflow('./flow.ts')
    console.log(run.results.charge, run.results.ship.undo)
    console.log(run.steps['checks/stock/reserve'])
    console.log(run.steps.ship.status, run.steps.ship.error.message)
    console.log(run.notUndone[0].node, run.notUndone[0].failure.message, run.retriedAs, run.error.origin.line)
})
";
    check_project(
        &[("flow.ts", flow), ("flow.test.ts", test)],
        expect![[r#"
        ok it is taken back
          > { result: 'p-1', state: {}, status: 'completed', undo: 'not_undone' } undefined
          > { status: 'completed', attempts: 1, error: null, undo: 'undone' }
          > failed no road
          > charge closed null 4"#]],
    )
    .await;
}
