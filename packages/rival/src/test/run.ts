/** `runWorkflow`: a workflow on the real engine, on a clock that jumps, with some of its steps replaced. */
import { realm, type Target } from '../realm.ts'
import { needCaller, pathFrom } from '../rival/caller.ts'

interface RunOptions {
    workflow?: string
    input?: unknown
    mocks?: Record<string, unknown>
    signals?: { name: string; payload?: unknown }[]
}

type Mocks = Record<string, unknown>

/** What stands in for steps, by the number of the run. */
const mocksOf = new Map<number, Mocks>()
let runs = 0

/** Runs the workflow of a file, or one that was built, to its end. */
export async function runWorkflow(workflow: unknown, options: RunOptions = {}): Promise<unknown> {
    const { input, mocks = {}, signals = [] } = options
    const run = ++runs
    mocksOf.set(run, mocks)
    try {
        return await realm().ask('test.run', {
            run,
            ...targetOf(workflow, options.workflow),
            input: input ?? null,
            mocks: Object.keys(mocks),
            signals: signals.map(({ name, payload }) => ({ name, payload: payload ?? null })),
        })
    } finally {
        mocksOf.delete(run)
    }
}

function targetOf(given: unknown, chosen: string | undefined): { file: string; workflow?: string } {
    if (typeof given === 'string') {
        const file = pathFrom(needCaller('runWorkflow'), given)
        return chosen === undefined ? { file } : { file, workflow: chosen }
    }
    const built = realm().author?.workflowOf(given)
    if (built?.module === undefined) {
        throw new TypeError("runWorkflow takes a file such as './order.ts', or a workflow made with createWorkflow(..)")
    }
    return { file: built.module, workflow: built.name }
}

/** What stands in for a step: `mock:<name>#<run>`. */
export function mockOf(key: string): Target | undefined {
    const [, name, run] = /^mock:(.*)#(\d+)$/.exec(key) ?? []
    const mocks = mocksOf.get(Number(run))
    if (mocks === undefined || name === undefined || !Object.hasOwn(mocks, name)) return undefined
    const mock = mocks[name]
    return { fn: typeof mock === 'function' ? (mock as Target['fn']) : () => mock, role: 'step' }
}
