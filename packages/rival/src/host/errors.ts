/** What was thrown, as frames have it; and back. */
import type { ErrorShape } from '../native.ts'
import { toJson, toJsonLoosely } from './json.ts'
import { framesOf } from './stack.ts'

const BEHAVIORS = ['stop', 'continue', 'retry']

/** Describes anything that was thrown. */
export function errorShape(thrown: unknown): ErrorShape {
    if (!(thrown instanceof Error)) return thrownValue(thrown)
    const error = thrown as Error & Record<string, unknown>
    const shape: ErrorShape = { name: String(error.name), message: messageOf(error), stack: stackOf(error) }
    if (typeof error.code === 'string') shape.code = error.code
    const details = detailsOf(error)
    if (details !== undefined) shape.details = details
    if (BEHAVIORS.includes(error.behavior as string)) {
        shape.behavior = error.behavior as string
        if (isCount(error.maxAttempts)) shape.maxAttempts = error.maxAttempts
        if (error.backoff === 'linear' || error.backoff === 'exponential') shape.backoff = error.backoff
        if (isCount(error.backoffMs)) shape.backoffMs = error.backoffMs
    }
    return shape
}

/** Its own message; those of its parts, if it is made of several. */
function messageOf(error: Error): string {
    if (!(error instanceof AggregateError) || !Array.isArray(error.errors)) return String(error.message)
    const parts = error.errors.map((part) => (part instanceof Error ? part.message : String(part)))
    return [error.message, parts.join('; ')].filter((text) => text !== '').join(': ')
}

function isCount(value: unknown): value is number {
    return Number.isSafeInteger(value) && (value as number) >= 0
}

/** JavaScript can throw anything. */
function thrownValue(thrown: unknown): ErrorShape {
    if (typeof thrown === 'object' && thrown !== null) {
        const { name, message, code } = thrown as Record<string, unknown>
        const shape: ErrorShape = {
            name: typeof name === 'string' ? name : 'Error',
            message: typeof message === 'string' ? message : toJsonLoosely(thrown),
            details: jsonOrNothing(thrown),
        }
        if (typeof code === 'string') shape.code = code
        return shape
    }
    return { name: 'Error', message: typeof thrown === 'symbol' ? thrown.toString() : String(thrown) }
}

/** The error's own `details`, or what zod found. */
function detailsOf(error: Record<string, unknown>): unknown {
    if (error.details !== undefined) return jsonOrNothing(error.details)
    if (Array.isArray(error.issues)) return jsonOrNothing({ issues: error.issues })
    return undefined
}

function jsonOrNothing(value: unknown): unknown {
    try {
        return JSON.parse(toJson(value, 'details'))
    } catch {
        return JSON.parse(toJsonLoosely(value))
    }
}

/** The stack, with those of the causes under it. */
function stackOf(error: Error): string {
    let text = framesOf(error)
    let cause: unknown = error.cause
    for (let depth = 0; cause instanceof Error && depth < 8; depth++) {
        text = `${text.trimEnd()}\nCaused by: ${cause.name}: ${cause.message}\n${framesOf(cause)}`
        cause = cause.cause
    }
    return text
}

/** Errors that the parent made: their own frames are those of the host. */
const placeless = new WeakSet<Error>()

/** Whether no line of a script belongs to an error. */
export function isPlaceless(error: unknown): error is Error {
    return error instanceof Error && placeless.has(error)
}

/** An error that the parent describes, as a script can catch it. */
export function toError(shape: ErrorShape): Error {
    const error = new Error(shape.message) as Error & Record<string, unknown>
    error.name = shape.name === '' ? 'Error' : shape.name
    if (shape.code !== undefined) error.code = shape.code
    if (shape.details !== undefined) {
        error.details = shape.details
        const issues = (shape.details as { issues?: unknown } | null)?.issues
        if (issues !== undefined) error.issues = issues
    }
    if (shape.stack !== undefined) error.stack = `${String(error)}\n${shape.stack}`
    else placeless.add(error)
    return error
}
