/** `node:util`. */
import { realm } from '../realm.ts'
import { difference } from '../test/equal.ts'
import { format as formatAll } from '../web/inspect.ts'
import * as types from './util_types.ts'

type Fn = (...args: any[]) => any

export { types }

const custom = Symbol.for('nodejs.util.inspect.custom')

export const inspect = Object.assign((value: unknown): string => realm().inspect(value), {
    custom,
    defaultOptions: {},
    colors: {},
    styles: {},
})

export function format(...values: unknown[]): string {
    return formatAll(values)
}
export function formatWithOptions(_: unknown, ...values: unknown[]): string {
    return formatAll(values)
}

const PROMISIFIED = Symbol.for('nodejs.util.promisify.custom')

export const promisify = Object.assign(
    (fn: Fn): Fn => {
        const own = (fn as unknown as Record<symbol, Fn | undefined>)[PROMISIFIED]
        if (own !== undefined) return own
        return function (this: unknown, ...args: unknown[]) {
            return new Promise((resolve, reject) => {
                fn.call(this, ...args, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value)))
            })
        }
    },
    { custom: PROMISIFIED },
)

export function callbackify(fn: Fn): Fn {
    return function (this: unknown, ...args: unknown[]) {
        const done = args.pop() as Fn
        const later = (globalThis as any).queueMicrotask as (work: () => void) => void
        fn.apply(this, args).then(
            (value: unknown) => later(() => done(null, value)),
            (error: unknown) => later(() => done(error ?? new Error('rejected without a reason'))),
        )
    }
}

export function inherits(child: Fn, parent: Fn): void {
    Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true })
    Object.setPrototypeOf(child.prototype, parent.prototype)
}

export function deprecate(fn: Fn): Fn {
    return fn
}
export function debuglog(): Fn {
    return Object.assign(() => {}, { enabled: false })
}
export { debuglog as debug }

export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
    const isObject = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null
    if (isObject && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
    return difference(a, b) === undefined
}

export function stripVTControlCharacters(text: string): string {
    return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '')
}
export function toUSVString(text: string): string {
    return text.toWellFormed()
}
export function styleText(_: unknown, text: string): string {
    return text
}

export const isArray = Array.isArray
export const isBoolean = (it: unknown): boolean => typeof it === 'boolean'
export const isNull = (it: unknown): boolean => it === null
export const isNullOrUndefined = (it: unknown): boolean => it === null || it === undefined
export const isNumber = (it: unknown): boolean => typeof it === 'number'
export const isString = (it: unknown): boolean => typeof it === 'string'
export const isSymbol = (it: unknown): boolean => typeof it === 'symbol'
export const isUndefined = (it: unknown): boolean => it === undefined
export const isObject = (it: unknown): boolean => typeof it === 'object' && it !== null
export const isFunction = (it: unknown): boolean => typeof it === 'function'
export const isRegExp = (it: unknown): boolean => it instanceof RegExp
export const isDate = (it: unknown): boolean => it instanceof Date
export const isError = (it: unknown): boolean => it instanceof Error
export const isPrimitive = (it: unknown): boolean => it === null || (typeof it !== 'object' && typeof it !== 'function')
export const isBuffer = (it: any): boolean => ArrayBuffer.isView(it) && typeof (it as any).readUInt8 === 'function'
/** What Node.js does by itself: own properties of one onto the other. */
export function _extend(to: object, from: object | null): object {
    return Object.assign(to, from)
}
const web = globalThis as any
export const TextDecoder = web.TextDecoder
export const TextEncoder = web.TextEncoder

export default {
    TextDecoder, TextEncoder, _extend, callbackify, debug: debuglog, debuglog, deprecate, format, formatWithOptions, inherits, inspect,
    isArray, isBoolean, isBuffer, isDate, isDeepStrictEqual, isError, isFunction, isNull, isNullOrUndefined, isNumber, isObject,
    isPrimitive, isRegExp, isString, isSymbol, isUndefined, promisify, stripVTControlCharacters, styleText, toUSVString, types,
}
