/** Calls: begun by a frame, ended by what the function returns or throws. */
import type { Cx, ErrorShape } from '../native.ts'
import type { OpenFile, Target } from '../realm.ts'
import { AbortController, DOMException } from '../web/abort.ts'
import { contextFor } from './context.ts'
import { errorShape } from './errors.ts'
import { toJson } from './json.ts'
import { writeLog } from './log.ts'
import { native } from './native.ts'
import { release } from './ops.ts'
import { explainMissing } from './steps.ts'

/** An operation that nothing has waited for. */
export interface Unattended {
    /** Says so, with the line that asked for it. */
    complaint(): string
}

/** Something that the parent waits for. */
export class Call {
    /** What the function was given. What it puts into its `state` is recorded. */
    declare context: { state?: unknown } | undefined
    /** What the parent knows of it. */
    declare private saidState: string
    /** Durable operations that are not answered yet. */
    declare durable: number
    /** Everything else that will wake it: timers, requests, other operations. */
    declare others: number
    /** The parent was told that it does nothing but wait. */
    declare saidIdle: boolean
    /** How many operations were answered. */
    declare answers: number
    /** Operations that nothing has waited for yet. Made with the first: most functions ask for none. */
    declare unattended: Set<Unattended> | undefined
    /** Its file is being evaluated. */
    declare isLoading: boolean
    /** The last earlier step that the function has asked for, and that is not there. */
    declare missing: string | undefined
    declare private controller: AbortController | null
    declare private abortReason: DOMException | null

    // Most calls change none of these, and what an object inherits costs nothing when it is made.
    static {
        Object.assign(Call.prototype, {
            context: undefined, saidState: '', durable: 0, others: 0, saidIdle: false, answers: 0, unattended: undefined,
            isLoading: false, missing: undefined, controller: null, abortReason: null,
        })
    }

    constructor(
        readonly id: number,
        /** What the function is given; null while a file is described or an input judged. */
        readonly cx: Cx,
        /** Its `context.run`, as JSON. */
        readonly runInfo: string,
        /** Calls are counted in the order in which they come. */
        readonly age: number = 0,
    ) {}

    /** Made when it is asked for first: most functions do not. */
    get signal() {
        if (this.controller === null) {
            this.controller = new AbortController()
            if (this.abortReason !== null) this.controller.abort(this.abortReason)
        }
        return this.controller.signal
    }

    /** Tells the parent what the state is now: if the call is stopped, it says nothing any more. */
    sayState(): void {
        let text
        try {
            text = stateText(this)
        } catch {
            // It is not JSON at this moment. If it still is not at the end, that is the call's failure.
            return
        }
        if (text === this.saidState) return
        this.saidState = text
        native.send(`{"state":{"id":${this.id}${text}}}`)
    }

    abort(reason: string): void {
        const name = reason === 'timeout' ? 'TimeoutError' : 'AbortError'
        this.abortReason = new DOMException(`the call was told to stop: ${reason}`, name)
        this.controller?.abort(this.abortReason)
    }
}

/** Those that the parent waits for. */
export const calls = new Map<number, Call>()
/** Files that are evaluated. */
export const opened = new Map<string, OpenFile>()

/** The call that the running macrotask belongs to. */
export function currentCall(): Call | undefined {
    return calls.get(native.current())
}

/** Remembers something that will be answered. */
export function open(id: number, cx: Cx | null, runInfo: string): Call {
    const call = new Call(id, cx as Cx, runInfo, ++begunCalls)
    calls.set(id, call)
    return call
}

let begunCalls = 0

/** The last call that was begun. */
export function youngest(): number {
    return begunCalls
}

/** The first call that is still open, or more than any. */
export function oldestOpen(): number {
    const first = calls.values().next()
    return first.done === true ? Infinity : first.value.age
}

/** Calls a function of a file that is evaluated. */
export function run(call: Call, target: Target): void {
    let value
    try {
        certain = call
        value = target.fn((call.context = contextFor(call, target.role)))
    } catch (error) {
        return fail(call, error)
    } finally {
        certain = undefined
    }
    if (isThenable(value)) {
        Promise.resolve(value).then(
            (value) => returned(call, target, value),
            (error) => fail(call, error),
        )
    } else {
        returned(call, target, value)
    }
}

/** The call that the running function certainly works for; after an `await` that is not known. */
let certain: Call | undefined

/** Calls a function that works for a call. */
export function workingFor<T>(call: Call | undefined, work: () => T): T {
    certain = call
    try {
        return work()
    } finally {
        certain = undefined
    }
}

/** Whether the running function certainly works for this call. */
export function isCertain(call: Call | undefined): boolean {
    return certain === call
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
    return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

function returned(call: Call, target: Target, value: unknown): void {
    if (target.after === undefined) return done(call, value)
    let after
    try {
        after = target.after(value)
    } catch (error) {
        return fail(call, error)
    }
    if (isThenable(after)) {
        Promise.resolve(after).then(
            (value) => done(call, value),
            (error) => fail(call, error),
        )
    } else {
        done(call, after)
    }
}

/** A function of a file, if that is evaluated. */
export function targetOf(file: string, workflow: string, name: string): Target | undefined {
    return opened.get(file)?.workflows.get(workflow)?.functions.get(name)
}

/** Sends the result of a call; does nothing if the call is over already. */
export function done(call: Call, value: unknown): void {
    if (call.unattended !== undefined) complain(call, call.unattended)
    if (!close(call)) return
    let text
    try {
        text = `{"done":{"id":${call.id},"value":${toJson(value, 'the result')}${stateText(call)}}}`
    } catch (error) {
        return sendFailure(call, error)
    }
    native.send(text)
}

/** Warns of operations that nothing has waited for. */
function complain(call: Call, unattended: Set<Unattended>): void {
    if (!calls.has(call.id)) return
    for (const forgotten of unattended) writeLog(call.id, 'warn', forgotten.complaint())
}

/** Answers with what was thrown. */
export function fail(call: Call, thrown: unknown): void {
    if (calls.has(call.id)) explainMissing(call, thrown)
    if (close(call)) sendFailure(call, thrown)
}

/** Ends a call, with what it began and did not wait for. False if it is over already. */
function close(call: Call): boolean {
    if (!calls.delete(call.id)) return false
    release(call)
    return true
}

function sendFailure(call: Call, thrown: unknown): void {
    const error = JSON.stringify(errorShape(thrown) satisfies ErrorShape)
    let state = ''
    try {
        state = stateText(call)
    } catch {
        // The function's own error says more than that its state is not JSON either.
    }
    native.send(`{"failed":{"id":${call.id},"error":${error}${state}}}`)
}

function stateText(call: Call): string {
    const state = call.context?.state
    for (const _ in state as object) return `,"state":${toJson(state, 'the state')}`
    return ''
}
