/** `context.durable`: what a step can wait for while it is suspended. */
import type { AbortSignal } from '../web/abort.ts'
import type { Call } from './call.ts'
import { isInTest, mockedOnce } from './doubles.ts'
import type { ErrorShape } from '../native.ts'
import { ABORTABLE, MAP, SIGNAL, actionFor, itemsFor, nameFor, options, waitFor, workflowFor } from './arguments.ts'
import { errorShape, toError } from './errors.ts'
import { Operation, raced } from './operation.ts'
import { askDurably, count, send } from './ops.ts'

interface Abortable {
    abort?: AbortSignal
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
    run(workflow: unknown, input?: unknown, given?: unknown): Promise<unknown> {
        const kind = 'durable.run'
        const args = { workflow: workflowFor(kind, workflow), input: input ?? null }
        return this.#ask(kind, args, options(kind, given, ABORTABLE))
    }

    /** Starts a child for each item and gives their outputs in order. */
    map(items: unknown, workflow: unknown, given?: unknown): Promise<unknown> {
        const kind = 'durable.map'
        const { concurrency, collect, abort } = options(kind, given, MAP)
        const list = Array.from(itemsFor(kind, items))
        const args = { workflow: workflowFor(kind, workflow), items: list, concurrency, collect }
        const each = collect === true ? settled : ({ value }: Outcome) => value
        return this.#ask(kind, args, { abort }, (outcomes) => (outcomes as Outcome[]).map(each))
    }

    /** Waits for a signal and gives its payload. */
    signal(given: unknown, how?: unknown): Promise<unknown> {
        const kind = 'durable.signal'
        const name = nameFor(kind, given)
        const { timeout: timeoutMs, timeoutIsValue, abort } = options(kind, how, SIGNAL)
        if (abort?.aborted) return Promise.reject(abort.reason)
        const waits = (this.#signals.get(name) ?? []).filter((wait) => !wait.isDropped)
        // A wait that lost its race yields: else it would take the signal that this one waits for.
        for (const wait of waits) if (wait.isForsaken) wait.drop()
        const { op, answer } = send(this.#call, kind, { name, timeoutMs, timeoutIsValue }, true)
        const wait = abortable(new Operation(this.#call, kind, op, answer, true), { abort })
        this.#signals.set(name, [...waits, wait])
        return wait.promise
    }

    /** Waits for a time. */
    sleep(duration: unknown, given?: unknown): Promise<unknown> {
        const kind = 'durable.sleep'
        return this.#ask(kind, { ms: waitFor(kind, duration) }, options(kind, given, ABORTABLE))
    }

    /** Does something once; what it gave is recorded. */
    once(given: unknown, work: unknown, how?: unknown): Promise<unknown> {
        const kind = 'durable.once'
        const [name, action] = [nameFor(kind, given), actionFor(kind, work)]
        const { abort } = options(kind, how, ABORTABLE)
        if (abort?.aborted) return Promise.reject(abort.reason)
        const call = this.#call
        const { op, answer } = send(call, kind, { name }, true)
        const done = answer.then((known) => {
            const { do: isNew, value } = known as { do?: true; value?: unknown }
            const work = isInTest() ? () => mockedOnce(call, String(name), action) : action
            return isNew === true ? once(call, op, work, () => operation.isDropped) : value
        })
        const operation: Operation = abortable(new Operation(call, kind, op, done, false), { abort })
        return operation.promise
    }

    /** The first that settles; the operations that lost are given up. */
    race(items: unknown): Promise<unknown> {
        return raced(itemsFor('durable.race', items), true, giveUp)
    }

    /** The first that succeeds; the operations that did not are given up. */
    any(items: unknown): Promise<unknown> {
        return raced(itemsFor('durable.any', items), false, giveUp)
    }

    #ask(
        kind: string,
        args: unknown,
        { abort }: Abortable,
        read: (answer: unknown) => unknown = (answer) => answer,
    ): Promise<unknown> {
        if (abort?.aborted) return Promise.reject(abort.reason)
        const { op, answer } = send(this.#call, kind, args, true)
        return abortable(new Operation(this.#call, kind, op, answer.then(read), false), { abort }).promise
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
