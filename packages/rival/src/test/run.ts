/** `runWorkflow` and `startWorkflow`: a workflow on the real engine, on the test's clock, with parts of it replaced. */
import { durationMs, longWaitMs } from '../duration.ts'
import { realm } from '../realm.ts'
import { needCaller, pathFrom } from '../rival/caller.ts'
import type { FetchMocks } from './fetch.ts'
import { keepMocks } from './mocks.ts'
import { testFile } from './tests.ts'

interface PlannedSignal {
    name: string
    payload?: unknown
    after?: number | string
}

interface RunOptions {
    workflow?: string
    input?: unknown
    workflows?: unknown[]
    mocks?: Record<string, unknown>
    children?: Record<string, unknown>
    once?: Record<string, unknown>
    fetch?: FetchMocks
    signals?: PlannedSignal[]
}

/** Runs a workflow to its end. */
export async function runWorkflow(workflow: unknown, options: RunOptions = {}): Promise<unknown> {
    const run = await start(workflow, options, needCaller('runWorkflow'))
    return run.result()
}

/** Starts a workflow. Time passes only while the test waits for something. */
export async function startWorkflow(workflow: unknown, options: RunOptions = {}): Promise<TestRun> {
    return start(workflow, options, needCaller('startWorkflow'))
}

/** Lets time pass in the test and in all that it runs. */
export async function advance(duration: unknown): Promise<void> {
    await realm().ask('test.advance', { ms: longWaitMs(duration, 'advance') })
}

/** A run that a test has started. */
class TestRun {
    readonly #number: number

    constructor(
        number: number,
        readonly runId: string,
    ) {
        this.#number = number
    }

    /** Sends a signal now. */
    async signal(name: string, payload?: unknown): Promise<void> {
        await realm().ask('test.signal', { run: this.#number, name: String(name), payload: payload ?? null })
    }

    /** Lets time pass until the run waits for a signal. */
    async untilWaitingFor(signal: string): Promise<void> {
        await realm().ask('test.untilWaiting', { run: this.#number, name: String(signal) })
    }

    /** Lets time pass until the run has ended. */
    result(): Promise<unknown> {
        return realm().ask('test.finish', { run: this.#number })
    }
}

async function start(workflow: unknown, options: RunOptions, caller: string): Promise<TestRun> {
    const { input, workflows = [], mocks = {}, children = {}, once = {}, fetch = {}, signals = [] } = options
    const run = keepMocks({ mocks, children, once, fetch })
    const sources = []
    for (const [index, given] of [workflow, ...workflows].entries()) {
        sources.push(await sourceOf(given, caller, `built:${run}.${index}`))
    }
    const started = await realm().ask('test.start', {
        run,
        sources,
        workflow: options.workflow,
        input: input ?? null,
        mocks: Object.keys(mocks),
        children: Object.keys(children),
        signals: signals.map(({ name, payload, after = 0 }) => ({
            name,
            payload: payload ?? null,
            afterMs: durationMs(after, 'signals: `after`'),
        })),
    })
    return new TestRun(run, (started as { runId: string }).runId)
}

/** Where a workflow is: in a file, or only here. */
async function sourceOf(given: unknown, caller: string, key: string): Promise<object> {
    if (typeof given === 'string') return { file: pathFrom(caller, given) }
    const { author } = realm()
    const built = author?.workflowOf(given)
    if (author === null || built === undefined) {
        throw new TypeError("a test runs a file such as './order.ts', or a workflow made with createWorkflow(..)")
    }
    const { module, name } = built
    // A file of its own is run as an engine runs it. What the test has built closes over the test, and runs here.
    if (module !== undefined && module !== testFile() && (await author.defines(module, given))) {
        return { file: module, workflow: name }
    }
    const { functions, description } = await author.describeBuilt(given)
    realm().addWorkflow(testFile(), key, functions)
    return { built: { key, description } }
}
