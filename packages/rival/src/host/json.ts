/** Values as JSON text. What JSON cannot say is refused with its path, instead of being changed on the way. */

import { Blob } from '../web/blob.ts'
import { FormData } from '../web/form_data.ts'
import { Headers } from '../web/headers.ts'
import { Request } from '../web/request.ts'
import { Response } from '../web/response.ts'
import { URLSearchParams } from '../web/search_params.ts'
import { ReadableStream } from '../web/streams.ts'

/** What is deeper could not be read back; it is the engine's limit too. */
const DEPTH_MAX = 120

const HALF = 'a text with half of a character (a lone surrogate): use toWellFormed()'

/** A value that is not JSON. */
export class NotJson extends Error {
    readonly code = 'not_json'
    readonly behavior = 'stop'

    constructor(what: string, path: string, problem: string) {
        super(`${what} is not JSON: ${path === '' ? 'it' : `\`${path}\``} is ${problem}`)
        this.name = 'NotJson'
    }
}

/** A value as JSON; `undefined` is `null`. `what` names it in errors. */
export function toJson(value: unknown, what: string): string {
    if (value === undefined || value === null) return 'null'
    hasMinusZero = false
    const problem = check(value, 0)
    if (problem !== null) throw new NotJson(what, problem.path, problem.text)
    const text = hasMinusZero ? exactly(value) : JSON.stringify(value)
    // An object whose `toJSON` gives nothing.
    return text === undefined ? 'null' : text
}

/** Whether the value that is being checked holds -0, which `JSON.stringify` writes as 0. */
let hasMinusZero = false

/** As `JSON.stringify` writes it, but for -0. */
function exactly(given: unknown): string | undefined {
    if (Object.is(given, -0)) return '-0'
    if (typeof given !== 'object' || given === null) return JSON.stringify(given)
    const json = (given as { toJSON?: unknown }).toJSON
    if (typeof json === 'function') return exactly(json.call(given, ''))
    if (Array.isArray(given)) return `[${given.map((item) => exactly(item) ?? 'null').join(',')}]`
    const fields = Object.keys(given).map((key) => [key, exactly((given as Record<string, unknown>)[key])])
    const present = fields.filter(([, text]) => text !== undefined)
    return `{${present.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`
}

interface Problem {
    path: string
    text: string
}

function check(value: unknown, depth: number): Problem | null {
    switch (typeof value) {
        case 'string':
            return value.isWellFormed() ? null : problem(HALF)
        case 'boolean':
        case 'undefined':
            return null
        case 'number':
            if (value === 0 && Object.is(value, -0)) hasMinusZero = true
            return Number.isFinite(value) ? null : problem(`${value}: use null or a string`)
        case 'object':
            return value === null ? null : checkObject(value, depth)
        case 'bigint':
            return problem(`the BigInt ${value}n: use Number(…) or String(…)`)
        case 'function':
            return problem(`the function ${value.name === '' ? '(anonymous)' : `\`${value.name}\``}: leave it out`)
        case 'symbol':
            return problem('a symbol: use a string')
    }
}

function checkObject(value: object, depth: number): Problem | null {
    if (depth >= DEPTH_MAX) return problem(`nested deeper than ${DEPTH_MAX} levels, or contains itself`)
    if (Array.isArray(value)) {
        for (let index = 0; index < value.length; index++) {
            const found = check(value[index], depth + 1)
            if (found !== null) return inside(`[${index}]`, found)
        }
        return null
    }
    if (value instanceof Date && Number.isNaN(value.getTime())) return problem('an invalid Date: use null')
    const json = (value as { toJSON?: unknown }).toJSON
    if (typeof json === 'function') return check(json.call(value, ''), depth + 1)
    const odd = oddity(value)
    if (odd !== null) return problem(odd)
    for (const key of Object.keys(value)) {
        if (!key.isWellFormed()) return inside(key.toWellFormed(), problem(`under a key that is ${HALF}`))
        const found = check((value as Record<string, unknown>)[key], depth + 1)
        if (found !== null) return inside(key, found)
    }
    return null
}

/** Objects that `JSON.stringify` would write as `{}`, or in another form that the author does not expect. */
function oddity(value: object): string | null {
    const prototype = Object.getPrototypeOf(value)
    if (prototype === Object.prototype || prototype === null) return null
    if (value instanceof Map) return 'a Map: use Object.fromEntries(map)'
    if (value instanceof Set) return 'a Set: use Array.from(set)'
    if (value instanceof Promise) return 'a promise: await it'
    if (value instanceof Error) return 'an Error: use its message, or throw it'
    if (value instanceof RegExp) return 'a RegExp: use its source'
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) return 'a weak reference'
    if (ArrayBuffer.isView(value)) return 'a typed array: use Array.from(array), or base64 text'
    if (value instanceof ArrayBuffer) return 'an ArrayBuffer: use base64 text'
    if (value instanceof Response) return 'a Response: await its json() or text()'
    if (value instanceof Request) return 'a Request: use its url'
    if (value instanceof Headers || value instanceof FormData) return 'a list of pairs: use Object.fromEntries(it)'
    if (value instanceof URLSearchParams) return 'URLSearchParams: use String(params)'
    if (value instanceof ReadableStream) return 'a stream: await new Response(it).text()'
    if (value instanceof Blob) return 'a Blob: await its text()'
    if (typeof (value as { next?: unknown }).next === 'function') return 'an iterator: use Array.from(it)'
    return null
}

function problem(text: string): Problem {
    return { path: '', text }
}

function inside(key: string, found: Problem): Problem {
    const dot = found.path === '' || found.path.startsWith('[') ? '' : '.'
    return { path: key + dot + found.path, text: found.text }
}

/** A value as JSON where losing a part is better than failing: in log lines. */
export function toJsonLoosely(value: unknown): string {
    const seen: object[] = []
    const text = JSON.stringify(value, function (this: unknown, _key: string, part: unknown) {
        switch (typeof part) {
            case 'bigint':
                return `${part}n`
            case 'number':
                return Number.isFinite(part) ? part : String(part)
            case 'function':
                return `[function ${part.name}]`
            case 'symbol':
                return String(part)
        }
        if (typeof part !== 'object' || part === null) return part
        while (seen.length > 0 && seen[seen.length - 1] !== this) seen.pop()
        if (seen.includes(part)) return '[circular]'
        if (seen.length > DEPTH_MAX) return '[deep]'
        const shown = plain(part)
        seen.push(shown)
        return shown
    })
    return text ?? 'null'
}

function plain(value: object): object {
    if (value instanceof Error) {
        const { name, message, stack } = value
        return Object.assign({ name, message, stack }, value)
    }
    if (value instanceof Map) return Object.fromEntries(value)
    if (value instanceof Set) return Array.from(value)
    return value
}
