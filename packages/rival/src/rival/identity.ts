/** What a function is, told by its text: how plans know functions that have no name. */
import { realm } from '../realm.ts'
import type { Fn } from './options.ts'

/** Functions that Rival makes. */
interface Predefined {
    /** What a step is called that has no other name. */
    base: string
    /** The text from which is read what it uses of its context. */
    source: string
    /** Everything that sets it apart from others of its kind. */
    text: string
    /** The texts of the functions that it was given. */
    inner: string[]
}

const predefined = new WeakMap<Fn, Predefined>()

/** Makes a function known as one of ours. `given` is what it was made from. */
export function predefine(fn: Fn, base: string, source: string, given: unknown): Fn {
    const inner: string[] = []
    const text = `${base} ${canonical(given, inner)}`
    predefined.set(fn, { base, source, text, inner })
    return fn
}

/** What a step with a function of ours is called. */
export function predefinedBase(fn: Fn): string | undefined {
    return predefined.get(fn)?.base
}

/** The text from which is read what a function uses. */
export function sourceOf(fn: Fn): string {
    return predefined.get(fn)?.source ?? textOf(fn)
}

/** A short name for what a function is: the same for the same text, wherever it stands. */
export function fingerprint(fn: Fn): string {
    return realm().native.digest(predefined.get(fn)?.text ?? textOf(fn)).slice(0, 12)
}

/** The texts that say what a function does, of those that are its author's. */
export function textsOf(fn: Fn): string[] {
    return predefined.get(fn)?.inner ?? [textOf(fn)]
}

/** The name that a function was declared with. One in `{ if: () => … }` is only called after the property. */
export function ownName(fn: Fn, property: string): string | undefined {
    if (predefined.has(fn) || fn.name === '') return undefined
    if (fn.name !== property) return fn.name
    return new RegExp(`^(async\\s+)?function\\b[\\s*]*${property}\\b`).test(textOf(fn)) ? fn.name : undefined
}

function textOf(fn: Fn): string {
    return Function.prototype.toString.call(fn)
}

/** A value as text, whatever the order of its keys; functions are their texts. */
function canonical(value: unknown, functions: string[]): string {
    if (typeof value === 'function') {
        const text = textOf(value as Fn)
        functions.push(text)
        return `<${text}>`
    }
    if (typeof value !== 'object' || value === null) return `${typeof value} ${JSON.stringify(String(value))}`
    if (value instanceof Date || value instanceof RegExp || value instanceof URL) return `<${String(value)}>`
    if (Array.isArray(value)) return `[${value.map((item) => canonical(item, functions)).join(',')}]`
    const isList = typeof (value as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function'
    if (isList) return `(${canonical(Array.from(value as Iterable<unknown>), functions)})`
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    const texts = fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field, functions)}`)
    return `{${texts.join(',')}}`
}

// What the host has and TypeScript's own library does not.
declare const URL: any
