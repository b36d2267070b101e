/** What durable operations are given: refused by name if it cannot be meant. */
import { durationMs, longWaitMs } from '../duration.ts'
import { bool, count, fn, type Reader, type Readers, type Read, readOptions, text } from '../rival/options.ts'
import { kindOf, refuse, WorkflowError } from '../rival/refuse.ts'
import { AbortSignal } from '../web/abort.ts'

const abort: Reader<AbortSignal> = (value, what) => {
    if (value instanceof AbortSignal) return value
    refuse(`${what} must be an AbortSignal, not ${kindOf(value)}`, 'write `abort: controller.signal`')
}

export const ABORTABLE = { abort }
export const MAP = { abort, concurrency: count, collect: bool }
export const SIGNAL = { abort, timeout: durationMs, timeoutIsValue: bool }

/** The options of an operation. */
export function options<R extends Readers>(kind: string, given: unknown, readers: R): Read<R> {
    return given === undefined ? {} : refusing(() => readOptions(given, kind, readers))
}

/** The name of a signal, or of what is done once. */
export function nameFor(kind: string, given: unknown): string {
    return refusing(() => text(given, `${kind}: the name`))
}

export function actionFor(kind: string, given: unknown): () => unknown {
    return refusing(() => fn(given, `${kind}: what is to be done`) as () => unknown)
}

export function waitFor(kind: string, given: unknown): number {
    return refusing(() => longWaitMs(given, kind))
}

/** The name of a workflow that is given itself, or by its name. */
export function workflowFor(kind: string, given: unknown): string {
    const name = typeof given === 'string' ? given : (given as { name?: unknown } | null | undefined)?.name
    if (typeof name === 'string' && name !== '') return name
    return refusing(() => refuse(`${kind} takes a workflow or the name of one, not ${kindOf(given)}`))
}

/** A list; a text is none, although it can be iterated. */
export function itemsFor(kind: string, given: unknown): Iterable<unknown> {
    const isList = typeof given === 'object' && given !== null && Symbol.iterator in given
    if (isList) return given as Iterable<unknown>
    return refusing(() => refuse(`${kind} takes a list, not ${kindOf(given)}`))
}

/** Trying again does not help against an argument that is wrong. */
function refusing<T>(work: () => T): T {
    try {
        return work()
    } catch (error) {
        const advice = error instanceof WorkflowError ? error.details.advice : undefined
        const message = (error as Error).message + (advice === undefined ? '' : `; ${advice}`)
        throw Object.assign(new TypeError(message), { code: 'invalid_argument', behavior: 'stop' })
    }
}
