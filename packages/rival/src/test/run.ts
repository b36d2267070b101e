/** `runWorkflow` and `startWorkflow`: a workflow on the real engine, on the test's clock, with parts of it replaced. */
import { durationMs, longWaitMs } from '../duration.ts'
import { realm } from '../realm.ts'
import { needCaller, pathFrom } from '../rival/caller.ts'
import { closest } from '../rival/refuse.ts'
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

const OPTIONS = ['workflow', 'input', 'workflows', 'mocks', 'children', 'once', 'fetch', 'signals']
const SIGNAL = ['name', 'payload', 'after']

/** Runs a workflow to its end. */
export function runWorkflow(workflow: unknown, options: RunOptions = {}): Promise<unknown> {
    const caller = needCaller('runWorkflow')
    return placed(async () => (await start('runWorkflow', workflow, options, caller)).result())
}

/** Starts a workflow. Time passes only while the test waits for something. */
export function startWorkflow(workflow: unknown, options: RunOptions = {}): Promise<TestRun> {
    const caller = needCaller('startWorkflow')
    return placed(() => start('startWorkflow', workflow, options, caller))
}

/** Lets time pass in the test and in all that it runs. */
export function advance(duration: unknown): Promise<void> {
    return placed(async () => void (await realm().ask('test.advance', { ms: longWaitMs(duration, 'advance') })))
}

/** Does something for a test. What is refused has the line of the test that asked for it: after an `await` it is gone. */
async function placed<T>(work: () => Promise<T>): Promise<T> {
    const frames = realm().framesOf(new Error())
    try {
        return await work()
    } catch (error) {
        if (error instanceof Error) error.stack = `${String(error)}\n${frames}`
        throw error
    }
}

/** With a slip in its name, an option would be ignored, and a real step called. */
function refuseUnknown(what: string, given: object, known: string[]): void {
    const unknown = Object.keys(given).find((name) => !known.includes(name))
    if (unknown === undefined) return
    const meant = closest(unknown, known)
    const advice = meant === undefined ? `there are: ${known.join(', ')}` : `did you mean \`${meant}\`?`
    throw new TypeError(`${what} has no option \`${unknown}\`; ${advice}`)
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
    signal(name: string, payload?: unknown): Promise<void> {
        const args = { run: this.#number, name: String(name), payload: payload ?? null }
        return placed(async () => void (await realm().ask('test.signal', args)))
    }

    /** Lets time pass until the run waits for a signal. */
    untilWaitingFor(signal: string): Promise<void> {
        const args = { run: this.#number, name: String(signal) }
        return placed(async () => void (await realm().ask('test.untilWaiting', args)))
    }

    /** Lets time pass until the run has ended. */
    result(): Promise<unknown> {
        return placed(() => realm().ask('test.finish', { run: this.#number }))
    }
}

async function start(what: string, workflow: unknown, options: RunOptions, caller: string): Promise<TestRun> {
    refuseUnknown(what, options, OPTIONS)
    for (const signal of options.signals ?? []) refuseUnknown(`a signal of ${what}`, signal, SIGNAL)
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
