/** What stands in for steps, children, requests and what is done once, by the number of the run. */
import type { Target } from '../realm.ts'
import { answerRequest, type FetchMocks, type SentRequest } from './fetch.ts'

type Named = Record<string, unknown>

export interface Mocks {
    mocks: Named
    children: Named
    once: Named
    fetch: FetchMocks
}

const byRun = new Map<number, Mocks>()

/** Puts mocks into a run, and gives its number. */
export function keepMocks(mocks: Mocks): number {
    const run = byRun.size + 1
    byRun.set(run, mocks)
    return run
}

/** The function that the parent means by `mock:<step>#<run>`, `child:<workflow>#<run>`, `once:#<run>` or `fetch:#<run>`. */
export function mockOf(key: string): Target | undefined {
    const [, kind, name = '', run] = /^(mock|child|once|fetch):(.*)#(\d+)$/.exec(key) ?? []
    const mocks = byRun.get(Number(run))
    if (mocks === undefined) return undefined
    switch (kind) {
        case 'mock':
            return named(mocks.mocks, name)
        case 'child':
            return named(mocks.children, name)
        case 'once':
            return target(({ input }: { input: { name: string } }) => doneOnce(mocks.once, input.name))
        default:
            return target(({ input }: { input: SentRequest }) => answerRequest(mocks.fetch, input))
    }
}

function target(fn: Target['fn']): Target {
    return { fn, role: 'step' }
}

function named(mocks: Named, name: string): Target | undefined {
    if (!Object.hasOwn(mocks, name)) return undefined
    const mock = mocks[name]
    return target(typeof mock === 'function' ? (mock as Target['fn']) : () => mock)
}

async function doneOnce(mocks: Named, name: string): Promise<object> {
    if (!Object.hasOwn(mocks, name)) return { real: true }
    const mock = mocks[name]
    const value: unknown = typeof mock === 'function' ? await mock() : mock
    return { value: value ?? null }
}
