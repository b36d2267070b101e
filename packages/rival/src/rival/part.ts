/** The elements of blocks, as authors write them and as they are kept until a plan is made. */
import type { Schema } from '../realm.ts'
import { type WorkflowData, workflowOf } from './data.ts'
import { ownName, predefinedBase } from './identity.ts'
import * as read from './options.ts'
import type { Fn } from './options.ts'
import { kindOf, refuse } from './refuse.ts'

export type Draft =
    | StepDraft
    | SleepDraft
    | SignalDraft
    | BranchDraft
    | LoopDraft
    | EachDraft
    | ParallelDraft
    | NestedDraft

interface Named {
    /** The name that its author gave it. */
    name?: string
    /** What it is called otherwise, with a number if it is not the first. */
    base: string
}

export interface RetryDraft {
    maxAttempts?: number
    backoff?: 'linear' | 'exponential'
    backoffMs?: number
    jitter?: boolean
}

export interface StepDraft extends Named {
    kind: 'step'
    fn: Fn
    retry: RetryDraft
    timeoutMs?: number
    onTimeout?: 'stop' | 'retry'
    onError?: Fn
    continueOnError?: boolean
    atMostOnce?: boolean
    compensate?: { fn: Fn; retry: RetryDraft; timeoutMs?: number }
}

export type WaitDraft = { forMs: number } | { untilMs: number } | { computed: Fn }

export interface SleepDraft extends Named {
    kind: 'sleep'
    wait: WaitDraft
}

export interface SignalDraft extends Named {
    kind: 'signal'
    signal: string
    timeoutMs?: number
    timeoutIsValue?: boolean
    schema?: Schema
}

export interface BranchDraft extends Named {
    kind: 'branch'
    choose: Fn
    /** The function says true or false, rather than a case's name. */
    isYesOrNo: boolean
    cases: [string, Draft[]][]
    otherwise?: Draft[]
}

export interface LoopDraft extends Named {
    kind: 'loop'
    body: Draft[]
    test: 'until' | 'while'
    fn: Fn
    maxIterations: number
}

export interface EachDraft extends Named {
    kind: 'forEach'
    items: Fn
    body: Draft[]
    concurrency: number
    maxIterations?: number
}

export interface ParallelDraft extends Named {
    kind: 'parallel'
    /** A branch without a name has its one node's. */
    branches: [string | null, Draft[]][]
    join: 'all' | 'first' | number
    onFailure: 'fail' | 'collect'
    finally?: Fn
}

export interface NestedDraft extends Named {
    kind: 'workflow'
    workflow: WorkflowData | FileReference
    input?: Fn
}

/** `workflow('./payment.ts')`: another file's workflow. */
export class FileReference {
    constructor(
        /** As it was written. */
        readonly path: string,
        /** The module that wrote it. */
        readonly from: string,
    ) {}
}

/** An element that is not a function: what `sleep(..)`, `branch({..})` and others give. */
export class Part {
    readonly #draft: Draft

    constructor(draft: Draft) {
        this.#draft = draft
    }

    static draft(part: Part): Draft {
        return part.#draft
    }
}

/** A step's id, if it has no other name. */
function baseName(fn: Fn): string {
    return predefinedBase(fn) ?? ownName(fn, 'fn') ?? 'step'
}

/** Whether a step's function has no name, and the step was given none. */
export function isNameless(draft: Draft): boolean {
    if (draft.kind !== 'step' || draft.name !== undefined) return false
    return predefinedBase(draft.fn) === undefined && ownName(draft.fn, 'fn') === undefined
}

/** The elements of a list, or a single one. `what` names the list in errors. */
export function draftsOf(given: unknown, what: string): Draft[] {
    if (!Array.isArray(given)) return [draftOf(given, what)]
    if (given.length === 0) refuse(`${what} is empty`, 'add at least one step')
    return given.map((element, index) => draftOf(element, `${what}[${index}]`))
}

/** One element. */
export function draftOf(element: unknown, what: string): Draft {
    if (typeof element === 'function') return stepDraft(element as Fn, {}, what)
    if (element instanceof Part) return Part.draft(element)
    if (element instanceof FileReference) return nestedDraft(element, {})
    const workflow = workflowOf(element)
    if (workflow !== undefined) return nestedDraft(workflow, {})
    if (typeof element === 'object' && element !== null && 'fn' in element) return configDraft(element, what)
    return refuse(`${what} is not a step: it is ${kindOf(element)}`, adviceFor(element))
}

function adviceFor(element: unknown): string {
    if (element === undefined) return 'is it exported by the file that you import it from, and defined before this line?'
    if (element instanceof Promise) return 'steps are functions that are not called: write the name without ()'
    if (typeof element === 'string') return "give the function itself, or workflow('./file.ts') for a file"
    if (Array.isArray(element)) return 'lists do not nest: use parallel({ name, steps: [ … ] }) or ...list'
    return 'steps are functions, { fn, … }, workflows, or what sleep(), signal(), branch() and the like give'
}

/** `{ fn: charge, timeout: 1000 }`. */
function configDraft(config: object, what: string): Draft {
    const { fn: given, ...options } = config as { fn: unknown }
    if (typeof given === 'function') return stepDraft(given as Fn, options, what)
    const draft = given instanceof Part || given instanceof FileReference || workflowOf(given) ? draftOf(given, what) : null
    if (draft === null) return refuse(`${what}: \`fn\` must be a function, not ${kindOf(given)}`)
    const { name } = read.readOptions(options, `${what} (a ${draft.kind})`, { name: read.text })
    return name === undefined ? draft : { ...draft, name }
}

const RETRY = {
    maxAttempts: read.count,
    backoff: read.oneOf('linear', 'exponential'),
    backoffMs: read.delay,
    jitter: read.bool,
}

const STEP = {
    ...RETRY,
    name: read.text,
    timeout: read.duration,
    onTimeout: read.oneOf('stop', 'retry'),
    onError: read.fn,
    continueOnError: read.bool,
    atMostOnce: read.bool,
    compensate: read.anything,
}

function stepDraft(fn: Fn, options: object, what: string): StepDraft {
    const base = baseName(fn)
    refuseOdd(fn, `${what} (${base})`)
    const { name, timeout, onTimeout, onError, continueOnError, atMostOnce, compensate, ...retry } = read.readOptions(
        options,
        `${what} (${base})`,
        STEP,
    )
    const draft: StepDraft = { kind: 'step', base, fn, retry }
    if (name !== undefined) draft.name = name
    if (timeout !== undefined) draft.timeoutMs = timeout
    if (onTimeout !== undefined) draft.onTimeout = onTimeout
    if (onError !== undefined) draft.onError = onError
    if (continueOnError !== undefined) draft.continueOnError = continueOnError
    if (atMostOnce !== undefined) draft.atMostOnce = atMostOnce
    if (compensate !== undefined) draft.compensate = compensation(compensate, `${what} (${base}): \`compensate\``)
    return draft
}

/** Functions that can be called and do nothing, or cannot be called. */
function refuseOdd(fn: Fn, what: string): void {
    if (/Generator/.test(Object.prototype.toString.call(fn))) {
        refuse(`${what} is a generator, which does nothing when it is called`, 'write function, or async function')
    }
    if (/^class\b/.test(Function.prototype.toString.call(fn))) {
        refuse(`${what} is a class`, 'give a function: (context) => new It().work(context)')
    }
    const method = builderMethodIn(fn)
    if (method !== undefined) {
        refuse(
            `${what} is a function that builds steps with .${method}(..), where steps themselves are wanted`,
            "write a list, such as [first, signal('approved')]; only .branch('name', (b) => ..) of .parallel(..) takes a function",
        )
    }
}

/**
 * The method of a builder that a function calls on its first parameter: `(b) => b.step(charge)`. A step's context has no
 * such methods, so that such a function can only be meant for a builder.
 */
function builderMethodIn(fn: Fn): string | undefined {
    const text = Function.prototype.toString.call(fn)
    const parameter = /^(?:async\s+)?(?:function\b[^(]*)?\(?\s*([A-Za-z_$][\w$]*)\s*(?:,|\)|=>)/.exec(text)?.[1]
    if (parameter === undefined) return undefined
    const name = parameter.replaceAll('$', '\\$')
    const methods = 'step|steps|parallel|branch|loop|forEach|sleep|signal|workflow'
    return new RegExp(`(?<![\\w$.])${name}\\s*\\.\\s*(${methods})\\s*\\(`).exec(text)?.[1]
}

function compensation(given: unknown, what: string): StepDraft['compensate'] {
    if (typeof given === 'function') return { fn: given as Fn, retry: {} }
    const { fn, timeout, ...retry } = read.readOptions(given, what, { ...RETRY, fn: read.fn, timeout: read.duration })
    if (fn === undefined) return refuse(`${what} has no function`, 'write { fn: undo, maxAttempts: 5 }')
    return timeout === undefined ? { fn, retry } : { fn, retry, timeoutMs: timeout }
}

export function nestedDraft(workflow: WorkflowData | FileReference, options: { name?: string; input?: Fn }): NestedDraft {
    // What a file calls its workflow is known when it is evaluated.
    const base = workflow instanceof FileReference ? '' : workflow.name
    return { kind: 'workflow', base, workflow, ...options }
}
