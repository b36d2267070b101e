/** `structuredClone`. */
import { DOMException } from './dom_exception.ts'

const ERRORS: Record<string, ErrorConstructor> = {
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
}

/** A deep copy; what was one object twice is one object in the copy too. */
export function structuredClone(value: unknown): unknown {
    return clone(value, new Map())
}

function clone(value: unknown, known: Map<object, object>): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw refused(value)
    if (typeof value !== 'object' || value === null) return value
    const before = known.get(value)
    if (before !== undefined) return before
    const whole = wholeCopy(value, known)
    if (whole !== undefined) {
        known.set(value, whole)
        return whole
    }
    return cloneParts(value, known)
}

function refused(value: unknown): Error {
    const what = typeof value === 'function' ? `function ${value.name}` : String(value)
    return new DOMException(`${what} could not be cloned`, 'DataCloneError')
}

/** A copy of what has no parts that could lead back to it. */
function wholeCopy(value: object, known: Map<object, object>): object | undefined {
    if (value instanceof Date) return new Date(value.getTime())
    if (value instanceof RegExp) return new RegExp(value.source, value.flags)
    if (value instanceof Boolean || value instanceof Number || value instanceof String) return Object(value.valueOf())
    if (value instanceof ArrayBuffer) return value.slice(0)
    if (value instanceof DataView) {
        return new DataView(clone(value.buffer, known) as ArrayBuffer, value.byteOffset, value.byteLength)
    }
    if (ArrayBuffer.isView(value)) {
        const array = value as Uint8Array
        const Kind = array.constructor as Uint8ArrayConstructor
        return new Kind(clone(array.buffer, known) as ArrayBuffer, array.byteOffset, array.length)
    }
    const isOdd = value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef
    if (isOdd) throw refused(`#<${value.constructor.name}>`)
    return undefined
}

function cloneParts(value: object, known: Map<object, object>): object {
    if (value instanceof Map) {
        const copy = new Map()
        known.set(value, copy)
        for (const [key, item] of Array.from(value)) copy.set(clone(key, known), clone(item, known))
        return copy
    }
    if (value instanceof Set) {
        const copy = new Set()
        known.set(value, copy)
        for (const item of Array.from(value)) copy.add(clone(item, known))
        return copy
    }
    if (value instanceof Error) return cloneError(value, known)
    const copy: Record<string, unknown> = Array.isArray(value) ? (new Array(value.length) as never) : {}
    known.set(value, copy)
    for (const key of Object.keys(value)) copy[key] = clone((value as Record<string, unknown>)[key], known)
    return copy
}

function cloneError(error: Error, known: Map<object, object>): Error {
    const copy = new (ERRORS[error.name] ?? Error)(error.message)
    known.set(error, copy)
    Object.defineProperty(copy, 'stack', { value: error.stack, configurable: true, writable: true })
    if ('cause' in error) {
        Object.defineProperty(copy, 'cause', { value: clone(error.cause, known), configurable: true, writable: true })
    }
    return copy
}
