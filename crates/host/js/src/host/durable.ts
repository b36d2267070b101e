/** `context.durable`: what a step can wait for while it is let go. */
import { durationMs, longWaitMs } from '../duration.ts'
import type { Call } from './call.ts'
import type { ErrorShape } from '../native.ts'
import { errorShape, toError } from './errors.ts'
import { askDurably, count, send } from './ops.ts'

interface MapOptions {
    concurrency?: number
    collect?: boolean
}

interface SignalOptions {
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

    constructor(call: Call) {
        this.#call = call
    }

    /** Starts a child and gives its output. */
    run(workflow: unknown, input?: unknown): Promise<unknown> {
        return askDurably(this.#call, 'durable.run', { workflow: nameOf(workflow), input: input ?? null })
    }

    /** Starts a child for each item and gives their outputs in order. */
    map(items: Iterable<unknown>, workflow: unknown, options: MapOptions = {}): Promise<unknown> {
        const { concurrency, collect } = options
        const args = { workflow: nameOf(workflow), items: Array.from(items), concurrency, collect }
        const asked = askDurably(this.#call, 'durable.map', args) as Promise<Outcome[]>
        return asked.then((outcomes) => outcomes.map(collect === true ? settled : ({ value }) => value))
    }

    /** Waits for a signal and gives its payload. */
    signal(name: string, options: SignalOptions = {}): Promise<unknown> {
        const { timeout, timeoutIsValue } = options
        const timeoutMs = timeout === undefined ? undefined : durationMs(timeout, 'durable.signal: `timeout`')
        return askDurably(this.#call, 'durable.signal', { name: String(name), timeoutMs, timeoutIsValue })
    }

    /** Waits for a time. */
    sleep(duration: unknown): Promise<unknown> {
        return askDurably(this.#call, 'durable.sleep', { ms: longWaitMs(duration, 'durable.sleep') })
    }

    /** Does something once; what it gave is recorded. */
    async once(name: string, action: () => unknown): Promise<unknown> {
        if (typeof action !== 'function') throw new TypeError('durable.once needs a name and a function')
        const call = this.#call
        const { op, answer } = send(call, 'durable.once', { name: String(name) }, true)
        const known = (await answer) as { do?: true; value?: unknown }
        if (known.do !== true) return known.value
        return once(call, op, action)
    }
}

async function once(call: Call, op: number, action: () => unknown): Promise<unknown> {
    let value
    // What it does is work, even if it waits.
    count(call, false, 1)
    try {
        value = await action()
    } catch (error) {
        count(call, false, -1)
        await askDurably(call, 'durable.onceDone', { once: op, error: errorShape(error) }).catch(() => {})
        throw error
    }
    count(call, false, -1)
    const answer = await askDurably(call, 'durable.onceDone', { once: op, value: value ?? null })
    return (answer as { value: unknown }).value
}

function nameOf(workflow: unknown): string {
    if (typeof workflow === 'string') return workflow
    const name = (workflow as { name?: unknown } | null)?.name
    if (typeof name === 'string' && name !== '') return name
    throw new TypeError('durable calls take a workflow or the name of one')
}
