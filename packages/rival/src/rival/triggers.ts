/** Triggers: workflows that a completed run starts. The refs in them are read by the parent, as those of documents. */
import { workflowOf } from './data.ts'
import * as read from './options.ts'
import { kindOf, refuse } from './refuse.ts'

export interface TriggerDraft {
    workflow: string
    /** JSON with refs. */
    inputs: object
    /** A ref to a list. */
    forEach?: string
    timeoutMs?: number
    maxRetries?: number
}

const EXAMPLE = "{ workflow: 'ship', inputs: { orderId: '@output.id' } }"
const OPTIONS = {
    inputs: (value: unknown, what: string): object => {
        if (isPlain(value)) return jsonOf(value, what) as object
        return refuse(`${what} must be an object, not ${kindOf(value)}`, "write { orderId: '@output.id' }")
    },
    forEach: read.text,
    timeout: read.duration,
    maxRetries: read.countOrZero,
}

/** The elements of `export const triggers = [ … ]`. */
export function triggersOf(given: unknown): TriggerDraft[] {
    const what = 'triggers'
    if (!Array.isArray(given)) refuse(`\`${what}\` must be a list, not ${kindOf(given)}`, `write [${EXAMPLE}]`)
    return given.map((trigger, index) => {
        if (!isPlain(trigger)) refuse(`${what}[${index}] is no trigger: it is ${kindOf(trigger)}`, `write ${EXAMPLE}`)
        const { workflow, ...options } = trigger as { workflow?: unknown }
        return triggerOf(workflow, options, `${what}[${index}]`)
    })
}

/** One trigger. */
export function triggerOf(workflow: unknown, options: unknown, what: string): TriggerDraft {
    const target = typeof workflow === 'string' && workflow !== '' ? workflow : workflowOf(workflow)?.name
    if (target === undefined) {
        refuse(`${what} starts a workflow by its name, and this is ${kindOf(workflow)}`, `write ${EXAMPLE}`)
    }
    const { inputs, timeout, ...others } = read.readOptions(options, what, OPTIONS)
    return { workflow: target, inputs: inputs ?? {}, ...others, ...(timeout === undefined ? {} : { timeoutMs: timeout }) }
}

function isPlain(value: unknown): value is Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const prototype = Object.getPrototypeOf(value)
    return prototype === null || prototype === Object.prototype
}

/** A copy of what JSON can say. Anything else would be left out without a word. */
function jsonOf(value: unknown, what: string): unknown {
    if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
    if (Array.isArray(value)) return Array.from(value, (item, index) => jsonOf(item, `${what}[${index}]`))
    if (isPlain(value)) {
        const fields = Object.entries(value).filter(([, field]) => field !== undefined)
        return Object.fromEntries(fields.map(([key, field]) => [key, jsonOf(field, `${what}.${key}`)]))
    }
    return refuse(`${what} must be JSON, and this is ${kindOf(value)}`, "values of the run are refs, such as '@output.id'")
}
