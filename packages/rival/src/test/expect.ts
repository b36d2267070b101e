/** `expect(value).toBe(other)` and its kin. */
import { realm } from '../realm.ts'
import { difference } from './equal.ts'

class AssertionError extends Error {
    override readonly name = 'AssertionError'
}

/** Whether a value passes, and what to say if it does not. */
interface Verdict {
    passes: boolean
    expected?: string
    note?: string
}

type Matcher = (value: unknown, ...args: any[]) => Verdict

const show = (value: unknown) => realm().inspect(value)

const compare =
    (word: string, holds: (a: number, b: number) => boolean): Matcher =>
    (value, bound: number) => ({ passes: holds(value as number, bound), expected: `${word} ${show(bound)}` })

const alike =
    (isPartial: boolean): Matcher =>
    (value, expected: unknown) => {
        const path = difference(value, expected, isPartial)
        const note = path === undefined || path === '' ? {} : { note: `they differ at ${path.replace(/^\./, '')}` }
        return { passes: path === undefined, expected: show(expected), ...note }
    }

const MATCHERS: Record<string, Matcher> = {
    toBe: (value, expected: unknown) => ({ passes: Object.is(value, expected), expected: show(expected) }),
    toEqual: alike(false),
    toMatchObject: alike(true),
    toBeTruthy: (value) => ({ passes: Boolean(value), expected: 'something true' }),
    toBeFalsy: (value) => ({ passes: !value, expected: 'something false' }),
    toBeNull: (value) => ({ passes: value === null, expected: 'null' }),
    toBeUndefined: (value) => ({ passes: value === undefined, expected: 'undefined' }),
    toBeDefined: (value) => ({ passes: value !== undefined, expected: 'anything but undefined' }),
    toBeInstanceOf: (value, kind: { new (...args: any[]): unknown; name: string }) => ({
        passes: value instanceof kind,
        expected: `an instance of ${kind.name}`,
    }),
    toBeGreaterThan: compare('more than', (a, b) => a > b),
    toBeGreaterThanOrEqual: compare('at least', (a, b) => a >= b),
    toBeLessThan: compare('less than', (a, b) => a < b),
    toBeLessThanOrEqual: compare('at most', (a, b) => a <= b),
    toBeCloseTo: (value, other: number, digits = 2) => ({
        passes: Math.abs((value as number) - other) < 10 ** -digits / 2,
        expected: `about ${other}`,
    }),
    toContain: (value, item: unknown) => ({ passes: contains(value, item), expected: `something with ${show(item)}` }),
    toHaveLength: (value, length: number) => ({
        passes: (value as { length?: unknown } | null)?.length === length,
        expected: `a length of ${length}`,
    }),
    toMatch: (value, pattern: RegExp | string) => ({
        passes: typeof value === 'string' && (typeof pattern === 'string' ? value.includes(pattern) : pattern.test(value)),
        expected: `a text that matches ${show(pattern)}`,
    }),
    toThrow: (value, wanted?: unknown) => thrownBy(value, wanted),
}

function contains(value: unknown, item: unknown): boolean {
    if (typeof value === 'string') return value.includes(String(item))
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) return false
    return Array.from(value as Iterable<unknown>).some((held) => Object.is(held, item))
}

/** A function that throws, or what a promise was rejected with. */
function thrownBy(value: unknown, wanted: unknown): Verdict {
    const expected = wanted === undefined ? 'an error' : `an error like ${show(wanted)}`
    if (value instanceof Rejected) return { passes: isLike(value.reason, wanted), expected }
    if (typeof value !== 'function') return { passes: false, expected: `${expected}, from a function` }
    try {
        value()
    } catch (error) {
        return { passes: isLike(error, wanted), expected, note: `it threw ${show(error)}` }
    }
    return { passes: false, expected, note: 'it threw nothing' }
}

function isLike(error: unknown, wanted: unknown): boolean {
    const message = error instanceof Error ? error.message : String(error)
    if (wanted === undefined) return true
    if (typeof wanted === 'string') return message.includes(wanted)
    if (wanted instanceof RegExp) return wanted.test(message)
    if (typeof wanted === 'function') return error instanceof wanted
    return difference(error, wanted, true) === undefined
}

/** What a promise was rejected with, so that `toThrow` can tell it from a function. */
class Rejected {
    constructor(readonly reason: unknown) {}
}

function judge(name: string, matcher: Matcher, value: unknown, args: unknown[], isNot: boolean): void {
    const { passes, expected, note } = matcher(value, ...args)
    if (passes !== isNot) return
    const lines = [
        `expect(..)${isNot ? '.not' : ''}.${name}(..) failed`,
        `  expected: ${isNot ? 'not ' : ''}${expected}`,
        `  received: ${show(value instanceof Rejected ? value.reason : value)}`,
    ]
    if (note !== undefined && !isNot) lines.push(`  ${note}`)
    throw new AssertionError(lines.join('\n'))
}

/** Says what must be true of a value. */
export function expect(value: unknown): object {
    return { ...matchers(value, false), not: matchers(value, true), ...later(value) }
}

function matchers(value: unknown, isNot: boolean): Record<string, unknown> {
    const entries = Object.entries(MATCHERS)
    return Object.fromEntries(
        entries.map(([name, matcher]) => [name, (...args: unknown[]) => judge(name, matcher, value, args, isNot)]),
    )
}

/** `resolves` and `rejects`: the same for what a promise comes to. */
function later(promise: unknown): Record<string, unknown> {
    const when = (settle: () => Promise<unknown>, isNot: boolean, isRejected: boolean) => {
        const entries = Object.entries(MATCHERS)
        return Object.fromEntries(
            entries.map(([name, matcher]) => [
                name,
                async (...args: unknown[]) => {
                    const settled = await settle()
                    const value = isRejected && name === 'toThrow' ? new Rejected(settled) : settled
                    judge(name, matcher, value, args, isNot)
                },
            ]),
        )
    }
    const resolved = async () => await (typeof promise === 'function' ? promise() : promise)
    const rejected = async () => {
        let value
        try {
            value = await resolved()
        } catch (error) {
            return error
        }
        throw new AssertionError(`expect(..).rejects failed\n  it was not rejected, it gave ${show(value)}`)
    }
    return {
        resolves: { ...when(resolved, false, false), not: when(resolved, true, false) },
        rejects: { ...when(rejected, false, true), not: when(rejected, true, true) },
    }
}
