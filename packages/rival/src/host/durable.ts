/** `context.durable`: what a step can wait for while it is suspended. */
import { durationMs, longWaitMs } from '../duration.ts'
import type { AbortSignal } from '../web/abort.ts'
import type { Call } from './call.ts'
import { isInTest, mockedOnce } from './doubles.ts'
import type { ErrorShape } from '../native.ts'
import { errorShape, toError } from './errors.ts'
import { Operation, raced } from './operation.ts'
import { askDurably, count, send } from './ops.ts'

interface Abortable {
    abort?: AbortSignal
}

interface MapOptions extends Abortable {
    concurrency?: number
    collect?: boolean
}

interface SignalOptions extends Abortable {
    timeout?: number | string
    timeoutIsValue?: boolean
}

/** What became of one child of a map. */
interface Outcome {
    value?: unknown
    error?: ErrorShape
}

/** The same, in the words of `Promise.allSettled`. */
function settled({ value, error }: Outcome): object {
    if (error === undefined) return { status: 'fulfilled', value }
    return { status: 'rejected', reason: toError(error) }
}

/** The operations of a call. */
export function durableFor(call: Call): object {
    return new Durable(call)
}

class Durable {
    readonly #call: Call
    /** The waits for signals, by name. */
    readonly #signals = new Map<string, Operation[]>()

    constructor(call: Call) {
        this.#call = call
    }

    /** Starts a child and gives its output. */
    run(workflow: unknown, input?: unknown, options: Abortable = {}): Promise<unknown> {
        const args = { workflow: nameOf(workflow), input: input ?? null }
        return this.#ask('durable.run', args, options)
    }

    /** Starts a child for each item and gives their outputs in order. */
    map(items: Iterable<unknown>, workflow: unknown, options: MapOptions = {}): Promise<unknown> {
        const { concurrency, collect } = options
        const args = { workflow: nameOf(workflow), items: Array.from(items), concurrency, collect }
        const each = collect === true ? settled : ({ value }: Outcome) => value
        return this.#ask('durable.map', args, options, (outcomes) => (outcomes as Outcome[]).map(each))
    }

    /** Waits for a signal and gives its payload. */
    signal(name: string, options: SignalOptions = {}): Promise<unknown> {
        const { timeout, timeoutIsValue } = options
        const timeoutMs = timeout === undefined ? undefined : durationMs(timeout, 'durable.signal: `timeout`')
        if (options.abort?.aborted) return Promise.reject(options.abort.reason)
        const waits = (this.#signals.get(String(name)) ?? []).filter((wait) => !wait.isDropped)
        // A wait that lost its race yields: else it would take the signal that this one waits for.
        for (const wait of waits) if (wait.isForsaken) wait.drop()
        const args = { name: String(name), timeoutMs, timeoutIsValue }
        const { op, answer } = send(this.#call, 'durable.signal', args, true)
        const wait = abortable(new Operation(this.#call, op, answer, true), options)
        this.#signals.set(String(name), [...waits, wait])
        return wait.promise
    }

    /** Waits for a time. */
    sleep(duration: unknown, options: Abortable = {}): Promise<unknown> {
        return this.#ask('durable.sleep', { ms: longWaitMs(duration, 'durable.sleep') }, options)
    }

    /** Does something once; what it gave is recorded. */
    once(name: string, action: () => unknown, options: Abortable = {}): Promise<unknown> {
        if (typeof action !== 'function') {
            return Promise.reject(new TypeError('durable.once needs a name and a function'))
        }
        if (options.abort?.aborted) return Promise.reject(options.abort.reason)
        const call = this.#call
        const { op, answer } = send(call, 'durable.once', { name: String(name) }, true)
        const done = answer.then((known) => {
            const { do: isNew, value } = known as { do?: true; value?: unknown }
            const work = isInTest() ? () => mockedOnce(call, String(name), action) : action
            return isNew === true ? once(call, op, work, () => operation.isDropped) : value
        })
        const operation: Operation = abortable(new Operation(call, op, done, false), options)
        return operation.promise
    }

    /** The first that settles; the operations that lost are given up. */
    race(items: Iterable<unknown>): Promise<unknown> {
        return raced(items, true, giveUp)
    }

    /** The first that succeeds; the operations that did not are given up. */
    any(items: Iterable<unknown>): Promise<unknown> {
        return raced(items, false, giveUp)
    }

    #ask(
        kind: string,
        args: unknown,
        options: Abortable,
        read: (answer: unknown) => unknown = (answer) => answer,
    ): Promise<unknown> {
        if (options.abort?.aborted) return Promise.reject(options.abort.reason)
        const { op, answer } = send(this.#call, kind, args, true)
        return abortable(new Operation(this.#call, op, answer.then(read), false), options).promise
    }
}

function giveUp(operations: Operation[]): void {
    for (const operation of operations) operation.drop()
}

/** Gives an operation up when its signal fires. */
function abortable(operation: Operation, { abort }: Abortable): Operation {
    abort?.addEventListener('abort', () => operation.drop(abort.reason), { once: true })
    return operation
}

async function once(call: Call, op: number, action: () => unknown, isDropped: () => boolean): Promise<unknown> {
    let value
    // What it does is work, even if it waits.
    count(call, false, 1)
    try {
        value = await action()
    } catch (error) {
        count(call, false, -1)
        if (isDropped()) throw error
        await askDurably(call, 'durable.onceDone', { once: op, error: errorShape(error) }).catch(() => {})
        throw error
    }
    count(call, false, -1)
    // What was given up is not recorded, whatever came of it.
    if (isDropped()) return value
    const answer = await askDurably(call, 'durable.onceDone', { once: op, value: value ?? null })
    return (answer as { value: unknown }).value
}

function nameOf(workflow: unknown): string {
    if (typeof workflow === 'string') return workflow
    const name = (workflow as { name?: unknown } | null)?.name
    if (typeof name === 'string' && name !== '') return name
    throw new TypeError('durable calls take a workflow or the name of one')
}
