/** `node:assert`. */
import { realm } from '../realm.ts'
import { difference } from '../test/equal.ts'
import { isDeepStrictEqual } from 'node:util'

export class AssertionError extends Error {
    readonly code = 'ERR_ASSERTION'
    readonly generatedMessage: boolean
    readonly actual: unknown
    readonly expected: unknown
    readonly operator: string | undefined

    constructor(options: { message?: string; actual?: unknown; expected?: unknown; operator?: string } = {}) {
        const { message, actual, expected, operator } = options
        super(message ?? `${realm().inspect(actual)} ${operator ?? 'fails'} ${realm().inspect(expected)}`)
        this.name = 'AssertionError'
        this.generatedMessage = message === undefined
        this.actual = actual
        this.expected = expected
        this.operator = operator
    }
}

type Message = string | Error | undefined

function judge(isRight: boolean, message: Message, operator: string, actual?: unknown, expected?: unknown): void {
    if (isRight) return
    if (message instanceof Error) throw message
    throw new AssertionError({ message, actual, expected, operator })
}

export function ok(value?: unknown, message?: Message): asserts value {
    judge(Boolean(value), message, '==', value, true)
}
export function equal(actual: any, expected: any, message?: Message): void {
    judge(actual == expected || (actual !== actual && expected !== expected), message, '==', actual, expected)
}
export function notEqual(actual: any, expected: any, message?: Message): void {
    judge(actual != expected, message, '!=', actual, expected)
}
export function strictEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(Object.is(actual, expected), message, 'strictEqual', actual, expected)
}
export function notStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(!Object.is(actual, expected), message, 'notStrictEqual', actual, expected)
}
export function deepEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(difference(actual, expected) === undefined, message, 'deepEqual', actual, expected)
}
export function notDeepEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(difference(actual, expected) !== undefined, message, 'notDeepEqual', actual, expected)
}
export function deepStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(isDeepStrictEqual(actual, expected), message, 'deepStrictEqual', actual, expected)
}
export function notDeepStrictEqual(actual: unknown, expected: unknown, message?: Message): void {
    judge(!isDeepStrictEqual(actual, expected), message, 'notDeepStrictEqual', actual, expected)
}
export function match(text: string, pattern: RegExp, message?: Message): void {
    judge(typeof text === 'string' && pattern.test(text), message, 'match', text, pattern)
}
export function doesNotMatch(text: string, pattern: RegExp, message?: Message): void {
    judge(typeof text !== 'string' || !pattern.test(text), message, 'doesNotMatch', text, pattern)
}
export function fail(message: Message = 'Failed'): never {
    if (message instanceof Error) throw message
    throw new AssertionError({ message, operator: 'fail' })
}
export function ifError(value: unknown): void {
    if (value !== null && value !== undefined) throw value
}

export function throws(fn: () => unknown, expected?: unknown, message?: Message): void {
    try {
        fn()
    } catch (error) {
        return judgeError(error, expected, message)
    }
    judge(false, typeof expected === 'string' ? expected : message ?? 'Missing expected exception.', 'throws')
}
export function doesNotThrow(fn: () => unknown, message?: Message): void {
    try {
        fn()
    } catch (error) {
        judge(false, message ?? `Got unwanted exception: ${String(error)}`, 'doesNotThrow', error)
    }
}
export async function rejects(given: any, expected?: unknown, message?: Message): Promise<void> {
    try {
        await (typeof given === 'function' ? given() : given)
    } catch (error) {
        return judgeError(error, expected, message)
    }
    judge(false, message ?? 'Missing expected rejection.', 'rejects')
}
export async function doesNotReject(given: any, message?: Message): Promise<void> {
    try {
        await (typeof given === 'function' ? given() : given)
    } catch (error) {
        judge(false, message ?? `Got unwanted rejection: ${String(error)}`, 'doesNotReject', error)
    }
}

function judgeError(error: any, expected: any, message: Message): void {
    if (expected === undefined || typeof expected === 'string') return
    if (expected instanceof RegExp) return judge(expected.test(String(error)), message, 'throws', error, expected)
    if (typeof expected !== 'function') {
        return judge(difference(error, expected, true) === undefined, message, 'throws', error, expected)
    }
    const isError = expected === Error || Error.prototype.isPrototypeOf(expected.prototype)
    judge(isError || expected.prototype ? error instanceof expected || !isError : expected(error) === true, message, 'throws', error, expected)
}

const all = {
    AssertionError, deepEqual, deepStrictEqual, doesNotMatch, doesNotReject, doesNotThrow, equal, fail, ifError, match, notDeepEqual,
    notDeepStrictEqual, notEqual, notStrictEqual, ok, rejects, strictEqual, throws,
}
export const strict: any = Object.assign((value: unknown, message?: Message) => ok(value, message), all, {
    deepEqual: deepStrictEqual, equal: strictEqual, notDeepEqual: notDeepStrictEqual, notEqual: notStrictEqual,
})
strict.strict = strict
const assert = Object.assign((value: unknown, message?: Message) => ok(value, message), all, { strict })
export default assert
