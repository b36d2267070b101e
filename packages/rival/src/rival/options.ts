/** Options of workflows and steps: only those that exist, each of its type. */
import { durationMs } from '../duration.ts'
import { closest, isSchema, kindOf, refuse } from './refuse.ts'

export type Fn = (context: any) => any
/** Gives the option's value, or refuses it. */
export type Reader<T> = (value: unknown, what: string) => T
export type Readers = Record<string, Reader<unknown>>
export type Read<R extends Readers> = { [K in keyof R]?: ReturnType<R[K]> }

/** Reads an object of options. `what` names whose they are. */
export function readOptions<R extends Readers>(given: unknown, what: string, readers: R): Read<R> {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        refuse(`${what} takes an object of options, not ${kindOf(given)}`)
    }
    const read: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(given)) {
        const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
        if (reader === undefined) refuseUnknown(what, name, Object.keys(readers))
        if (value !== undefined) read[name] = reader(value, `${what}: \`${name}\``)
    }
    return read as Read<R>
}

function refuseUnknown(what: string, name: string, known: string[]): never {
    const meant = closest(name, known)
    const advice = meant === undefined ? `there are ${known.join(', ')}` : `did you mean \`${meant}\`?`
    refuse(`${what} has no option \`${name}\``, advice)
}

export const fn: Reader<Fn> = (value, what) => {
    if (typeof value === 'function') return value as Fn
    const advice = value instanceof Promise ? 'give the function itself, without calling it' : undefined
    refuse(`${what} must be a function, not ${kindOf(value)}`, advice)
}

export const text: Reader<string> = (value, what) => {
    if (typeof value === 'string' && value !== '') return value
    refuse(`${what} must be a text, not ${value === '' ? 'an empty one' : kindOf(value)}`)
}

export const bool: Reader<boolean> = (value, what) => {
    if (typeof value === 'boolean') return value
    refuse(`${what} must be true or false, not ${kindOf(value)}`)
}

/** 1, 2, 3, … */
export const count: Reader<number> = (value, what) => {
    if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 0xffff_ffff) return value as number
    refuse(`${what} must be a whole number of at least 1, not ${kindOf(value)}`)
}

export const countOrZero: Reader<number> = (value, what) => (value === 0 ? 0 : count(value, what))

/** Milliseconds of at least one. */
export const duration: Reader<number> = (value, what) => {
    const ms = delay(value, what)
    return ms >= 1 ? ms : refuse(`${what} must be at least 1 ms`)
}

/** Milliseconds. */
export const delay: Reader<number> = (value, what) => {
    try {
        return durationMs(value, what)
    } catch (error) {
        refuse((error as Error).message)
    }
}

export const schema: Reader<object> = (value, what) => {
    if (isSchema(value)) return value as object
    refuse(`${what} must be a zod schema, not ${kindOf(value)}`, "write z.object({ … }), with z from 'zod'")
}

export function oneOf<const T extends string>(...words: T[]): Reader<T> {
    return (value, what) => {
        if (words.includes(value as T)) return value as T
        refuse(`${what} must be ${words.map((word) => `'${word}'`).join(' or ')}, not ${kindOf(value)}`)
    }
}

export const anything: Reader<unknown> = (value) => value
