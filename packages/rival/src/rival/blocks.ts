/** Blocks as values: `branch({..})`, `loop({..})`, `forEach({..})`, `parallel({..})`, `sleep(..)`, `signal(..)`. */
import { longWaitMs } from '../duration.ts'
import type { Schema } from '../realm.ts'
import { predefine } from './identity.ts'
import * as read from './options.ts'
import type { Fn } from './options.ts'
import {
    type BranchDraft,
    type Draft,
    draftsOf,
    type EachDraft,
    type LoopDraft,
    type ParallelDraft,
    Part,
    type SignalDraft,
    type SleepDraft,
    type WaitDraft,
} from './part.ts'
import { kindOf, refuse } from './refuse.ts'

/** More iterations of a loop than this are an error unless it says otherwise. */
const MAX_ITERATIONS = 1_000

export const branch = (options: unknown) => new Part(branchDraft(options))
export const loop = (options: unknown) => new Part(loopDraft(options))
export const forEach = (options: unknown) => new Part(eachDraft(options))
export const parallel = (options: unknown) => new Part(parallelDraft(options))
export const sleep = (wait: unknown) => new Part(sleepDraft(wait, 'sleep'))
export const signal = (name: unknown, options: unknown = {}) => new Part(signalDraft(name, options))
/** A durable sleep. */
export const delayStep = (wait: unknown) => new Part(sleepDraft(wait, 'delay'))

export function branchDraft(given: unknown): BranchDraft {
    const options = read.readOptions(given, 'branch', {
        name: read.text,
        if: read.fn,
        then: read.anything,
        else: read.anything,
        on: read.fn,
        cases: read.anything,
        default: read.anything,
    })
    const { name, if: condition, on } = options
    const what = name === undefined ? 'branch' : `branch '${name}'`
    if ((condition === undefined) === (on === undefined)) {
        return refuse(`${what} needs either \`if\` or \`on\``, 'use { if, then, else } or { on, cases, default }')
    }
    const lanes = condition === undefined ? byCase(options, what) : byCondition(options, what)
    const draft = { kind: 'branch' as const, base: 'branch', choose: (condition ?? on) as Fn, ...lanes }
    return name === undefined ? draft : { ...draft, name }
}

interface BranchOptions {
    then?: unknown
    else?: unknown
    cases?: unknown
    default?: unknown
}

function byCondition(options: BranchOptions, what: string): Pick<BranchDraft, 'isYesOrNo' | 'cases'> {
    if (options.cases !== undefined || options.default !== undefined) {
        refuse(`${what} has \`if\` and cases`, 'use \`on\` instead of \`if\` to choose a case by name')
    }
    const lanes = [
        ['then', options.then],
        ['else', options.else],
    ] as const
    const cases = lanes.filter(([, steps]) => steps !== undefined)
    if (cases.length === 0) refuse(`${what} has nothing to do`, 'add \`then\`, \`else\` or both')
    return { isYesOrNo: true, cases: cases.map(([name, steps]) => [name, draftsOf(steps, `${what}: ${name}`)]) }
}

function byCase(options: BranchOptions, what: string): Pick<BranchDraft, 'isYesOrNo' | 'cases' | 'otherwise'> {
    if (options.then !== undefined || options.else !== undefined) {
        refuse(`${what} has \`on\` and \`then\` or \`else\``, 'use \`if\` for true and false, \`cases\` for names')
    }
    const cases = lanesOf(options.cases, `${what}: cases`)
    const lanes = { isYesOrNo: false, cases }
    if (options.default === undefined) return lanes
    return { ...lanes, otherwise: draftsOf(options.default, `${what}: default`) }
}

/** Blocks by name. */
function lanesOf(given: unknown, what: string): [string, Draft[]][] {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        return refuse(`${what} must be an object of steps by name, not ${kindOf(given)}`)
    }
    const lanes = Object.entries(given)
    if (lanes.length === 0) refuse(`${what} is empty`, 'add at least one')
    return lanes.map(([name, steps]) => [name, draftsOf(steps, `${what}.${name}`)])
}

export function loopDraft(given: unknown): LoopDraft {
    const options = read.readOptions(given, 'loop', {
        name: read.text,
        body: read.anything,
        until: read.fn,
        while: read.fn,
        maxIterations: read.count,
    })
    const { name, body, until, maxIterations } = options
    const what = name === undefined ? 'loop' : `loop '${name}'`
    const fn = until ?? options.while
    if (fn === undefined || (until !== undefined && options.while !== undefined)) {
        return refuse(`${what} needs either \`until\` or \`while\``, 'until is asked after each iteration, while before')
    }
    if (body === undefined) return refuse(`${what} has no \`body\``, 'write body: [step, otherStep]')
    const draft: LoopDraft = {
        kind: 'loop',
        base: 'loop',
        body: draftsOf(body, `${what}: body`),
        test: until === undefined ? 'while' : 'until',
        fn,
        maxIterations: maxIterations ?? MAX_ITERATIONS,
    }
    return name === undefined ? draft : { ...draft, name }
}

export function eachDraft(given: unknown): EachDraft {
    const { name, items, body, step, steps, concurrency, maxIterations } = read.readOptions(given, 'forEach', {
        name: read.text,
        items: read.anything,
        body: read.anything,
        step: read.anything,
        steps: read.anything,
        concurrency: read.count,
        maxIterations: read.count,
    })
    const what = name === undefined ? 'forEach' : `forEach '${name}'`
    const bodies = [body, step, steps].filter((given) => given !== undefined)
    if (bodies.length !== 1) return refuse(`${what} needs one \`body\``, 'write body: [step, otherStep]')
    const draft: EachDraft = {
        kind: 'forEach',
        base: 'forEach',
        items: itemsOf(items, what),
        body: draftsOf(bodies[0], `${what}: body`),
        concurrency: concurrency ?? 1,
    }
    if (maxIterations !== undefined) draft.maxIterations = maxIterations
    return name === undefined ? draft : { ...draft, name }
}

function itemsOf(items: unknown, what: string): Fn {
    if (Array.isArray(items)) return predefine(() => items, 'items', '() => []', items)
    if (typeof items === 'function') return items as Fn
    if (items !== undefined) refuse(`${what}: \`items\` must be a list or a function that gives one, not ${kindOf(items)}`)
    return refuse(`${what} has no \`items\``, 'write items: ({ steps }) => steps.list.result')
}

export function parallelDraft(given: unknown): ParallelDraft {
    const options = read.readOptions(given, 'parallel', {
        name: read.text,
        steps: read.anything,
        branches: read.anything,
        join: joinOf,
        onFailure: read.oneOf('fail', 'collect'),
        finally: read.fn,
    })
    const { name, steps, branches, join, onFailure } = options
    const what = name === undefined ? 'parallel' : `parallel '${name}'`
    if ((steps === undefined) === (branches === undefined)) {
        return refuse(`${what} needs either \`steps\` or \`branches\``, 'branches is an object of steps by name')
    }
    const draft = newParallel(name)
    draft.branches = steps === undefined ? lanesOf(branches, `${what}: branches`) : oneStepEach(steps, what)
    draft.join = join ?? 'all'
    draft.onFailure = onFailure ?? 'fail'
    if (options.finally !== undefined) draft.finally = options.finally
    return draft
}

export function newParallel(name: string | undefined): ParallelDraft {
    const draft: ParallelDraft = { kind: 'parallel', base: 'parallel', branches: [], join: 'all', onFailure: 'fail' }
    return name === undefined ? draft : { ...draft, name }
}

/** A list of steps side by side: each is a branch with the step's name. */
function oneStepEach(steps: unknown, what: string): [null, Draft[]][] {
    if (!Array.isArray(steps)) return refuse(`${what}: \`steps\` must be a list, not ${kindOf(steps)}`)
    return draftsOf(steps, `${what}: steps`).map((draft) => [null, [draft]])
}

export function joinOf(value: unknown, what: string): 'all' | 'first' | number {
    if (value === 'all' || value === 'first') return value
    if (typeof value === 'number') return read.count(value, what)
    return refuse(`${what} must be 'all', 'first' or a number of branches, not ${kindOf(value)}`)
}

export function sleepDraft(given: unknown, base: 'sleep' | 'delay'): SleepDraft {
    if (typeof given === 'function') return { kind: 'sleep', base, wait: { computed: given as Fn } }
    if (typeof given !== 'object' || given === null || given instanceof Date) {
        return { kind: 'sleep', base, wait: waitOf(given, base) }
    }
    const { name, ...wait } = given as { name?: unknown }
    const draft: SleepDraft = { kind: 'sleep', base, wait: waitOf(wait, base) }
    return name === undefined ? draft : { ...draft, name: read.text(name, `${base}: \`name\``) }
}

/** How long, or until when: `5000`, `'5s'`, `{ seconds: 5 }`, a Date, `{ until: '2030-01-01T00:00:00Z' }`. */
export function waitOf(given: unknown, what: string): Exclude<WaitDraft, { computed: Fn }> {
    if (given instanceof Date) return { untilMs: momentOf(given, what) }
    if (typeof given === 'object' && given !== null && 'until' in given) {
        const { until, ...rest } = given
        if (Object.keys(rest).length > 0) refuse(`${what} has \`until\` and a length`, 'use one of them')
        return { untilMs: momentOf(until, `${what}: \`until\``) }
    }
    try {
        return { forMs: longWaitMs(given, what) }
    } catch (error) {
        return refuse((error as Error).message)
    }
}

function momentOf(given: unknown, what: string): number {
    const ms = given instanceof Date ? given.getTime() : typeof given === 'number' ? given : Date.parse(String(given))
    if (Number.isFinite(ms)) return Math.round(ms)
    return refuse(`${what} is no moment: ${kindOf(given)}`, "use a Date or a text such as '2030-01-01T00:00:00Z'")
}

export function signalDraft(name: unknown, given: unknown): SignalDraft {
    const signal = read.text(name, 'the name of a signal')
    const what = `signal '${signal}'`
    const options = read.readOptions(given, what, {
        name: read.text,
        timeout: read.duration,
        timeoutIsValue: read.bool,
        schema: read.schema,
    })
    const draft: SignalDraft = { kind: 'signal', base: signal, signal }
    if (options.name !== undefined) draft.name = options.name
    if (options.timeout !== undefined) draft.timeoutMs = options.timeout
    if (options.timeoutIsValue !== undefined) draft.timeoutIsValue = options.timeoutIsValue
    if (options.schema !== undefined) draft.schema = options.schema as Schema
    return draft
}
