/**
 * Built-ins: what the language and the platform bring along. A file may add to them while it is loaded, as polyfills do.
 * Then they are frozen, so that no call changes what the calls after it find.
 *
 * What belongs to the core of the language may not be replaced, not even by the file itself: the host records results with
 * it, and would record others.
 */
import { native } from './native.ts'

const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, is, preventExtensions } = Object
const { ownKeys } = Reflect

/** The core of the language: these names, and what their values and prototypes hold. */
const CORE = [
    'Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'JSON', 'Reflect', 'Promise', 'Map', 'Set',
    'WeakMap', 'RegExp', 'Error',
]

/** What has one of these has another JSON, or is taken for a promise. */
const WATCHED = ['toJSON', 'then']
const UNWATCHED = ['Promise', 'JSON', 'Reflect', 'Symbol']

/**
 * Properties that objects often have themselves. An assignment would be refused where the prototype's is frozen, so they
 * become accessors that let objects have their own. Not those of promises: the engine itself looks for `then`, and a script
 * that is stopped there would reject promises with it.
 */
const OVERRIDDEN: Record<string, readonly string[]> = {
    Function: ['bind', 'constructor', 'toString'],
    Array: ['constructor', 'toString'],
    Date: ['constructor', 'toJSON', 'toString', 'valueOf'],
    RegExp: ['constructor', 'toString'],
    Map: ['constructor'],
    Set: ['constructor'],
}
const OF_ERRORS = ['constructor', 'message', 'name', 'toString']

/** What a property leads to an object by: a step of a route is the place of its key, times eight, and these. */
const VALUE = 0
const GETTER = 1
const SETTER = 2
const PROTOTYPE = 3
/** Added where the object is plain. */
const PLAIN = 4

/** What one object of the core holds. */
interface Members {
    /** Its name, for messages. */
    place: string
    holder: object
    keys: PropertyKey[]
    values: unknown[]
}

/** The built-ins of a realm before any code of its author. */
export class Builtins {
    readonly #core: Members[] = []
    readonly #objects: object[] = []
    /** Functions with nothing of their own, which only need to stay so: freezing them would cost memory. */
    readonly #plain: object[] = []
    readonly #globals = ownKeys(globalThis)
    readonly #overridable: [object, readonly PropertyKey[]][] = []

    /** To be called when the platform is there and nothing else is. */
    constructor(more: readonly unknown[]) {
        this.#core.push({ place: '', holder: globalThis, keys: CORE, values: CORE.map(valueAt) })
        for (const name of CORE) this.#note(name, valueAt(name))
        this.add(`globals ${this.#globals.map(String).join()}`, [...this.#globals.map(valueAt), ...hidden(), ...more])
        for (const name of this.#globals) this.#noteOverridden(name)
    }

    /**
     * More that is to be frozen, with all that it leads to. Realms are alike until there is code of an author, so the first
     * one looks, and the others go the same way.
     */
    add(name: string, more: readonly unknown[]): void {
        const from = this.#objects.push(more) - 1
        const plain = this.#plain.length
        const route = native.recall(name)
        if (route !== null && this.#follow(from, new Uint16Array(route.buffer))) return
        this.#objects.length = from + 1
        this.#plain.length = plain
        native.remember(name, new Uint8Array(new Uint16Array(this.#explore(from)).buffer))
    }

    #note(name: string, value: any): void {
        this.#noteAll(name, value)
        if (hasOwn(value, 'prototype')) this.#noteAll(`${name}.prototype`, value.prototype)
    }

    #noteAll(place: string, holder: object): void {
        const members: Members = { place, holder, keys: [], values: [] }
        for (const key of ownKeys(holder)) {
            const descriptor = getOwnPropertyDescriptor(holder, key)
            if (descriptor === undefined || !hasOwn(descriptor, 'value')) continue
            members.keys.push(key)
            members.values.push(descriptor.value)
        }
        this.#core.push(members)
    }

    /**
     * Adds all that objects lead to. Gives the route: for each object, how many keys it has, how many objects it led to first,
     * and a step for each of these.
     */
    #explore(from: number): number[] {
        const found = new Set<object>([globalThis, ...this.#objects, ...this.#plain])
        const route: number[] = []
        const visit = (object: unknown, step: number): void => {
            if (!isObject(object) || found.has(object)) return
            found.add(object)
            const isPlain = typeof object === 'function' && ownKeys(object).length <= 2
            if (isPlain) this.#plain.push(object)
            else this.#objects.push(object)
            route.push(isPlain ? step + PLAIN : step)
        }
        for (let at = from; at < this.#objects.length; at++) {
            const holder = this.#objects[at] as object
            const keys = ownKeys(holder)
            const start = route.push(keys.length, 0)
            visit(getPrototypeOf(holder), PROTOTYPE)
            keys.forEach((key, place) => {
                const { value, get, set } = getOwnPropertyDescriptor(holder, key) as PropertyDescriptor
                visit(value, place * 8 + VALUE)
                visit(get, place * 8 + GETTER)
                visit(set, place * 8 + SETTER)
            })
            route[start - 1] = route.length - start
        }
        return route
    }

    /** Adds what another realm has found there. False if this one is not like that one. */
    #follow(from: number, route: Uint16Array): boolean {
        let next = 0
        for (let at = from; at < this.#objects.length; at++) {
            const holder = this.#objects[at] as Record<PropertyKey, unknown>
            const keys = ownKeys(holder)
            if (keys.length !== route[next++]) return false
            const end = next + 1 + (route[next] as number)
            for (next++; next < end; next++) {
                const step = route[next] as number
                const object = reached(holder, keys[step >> 3] as PropertyKey, step & 3)
                if (!isObject(object)) return false
                if (step & PLAIN) this.#plain.push(object)
                else this.#objects.push(object)
            }
        }
        return true
    }

    #noteOverridden(name: PropertyKey): void {
        const { prototype } = Object(valueAt(name)) as { prototype?: unknown }
        if (typeof name !== 'string' || !isObject(prototype)) return
        const keys =
            prototype === Object.prototype ? ownKeys(prototype)
            : prototype === Error.prototype || prototype instanceof Error ? OF_ERRORS
            : OVERRIDDEN[name]
        if (keys !== undefined) this.#overridable.push([prototype, keys])
    }

    /** What the author's code has done to them that it may not do; null if nothing. */
    wrong(): string | null {
        for (let index = 0; index < this.#core.length; index++) {
            const { place, holder, keys, values } = this.#core[index] as Members
            for (let at = 0; at < keys.length; at++) {
                const key = keys[at] as PropertyKey
                const now = getOwnPropertyDescriptor(holder, key)
                if (now === undefined || !is(now.value, values[at])) return `replaces the built-in \`${named(place, key)}\``
            }
        }
        for (let index = 0; index < CORE.length; index++) {
            const name = CORE[index] as string
            const { prototype } = (globalThis as Record<string, any>)[name]
            if (prototype === undefined || isOneOf(UNWATCHED, name)) continue
            for (let at = 0; at < WATCHED.length; at++) {
                const key = WATCHED[at] as string
                if (hasOwn(prototype, key)) return `adds \`${key}\` to \`${name}.prototype\``
            }
        }
        return null
    }

    /** Makes the core what it was, so that it can be told that it was not. */
    restore(): void {
        for (let index = 0; index < this.#core.length; index++) {
            const { holder, keys, values } = this.#core[index] as Members
            for (let at = 0; at < keys.length; at++) {
                const key = keys[at] as PropertyKey
                const value = values[at]
                const now = getOwnPropertyDescriptor(holder, key)
                if (now?.configurable === false) continue
                if (now === undefined || !is(now.value, value)) {
                    defineProperty(holder, key, { value, writable: true, enumerable: false, configurable: true })
                }
            }
        }
        for (let index = 0; index < CORE.length; index++) {
            const name = CORE[index] as string
            const { prototype } = (globalThis as Record<string, any>)[name]
            if (prototype === undefined || isOneOf(UNWATCHED, name)) continue
            for (let at = 0; at < WATCHED.length; at++) delete prototype[WATCHED[at] as string]
        }
    }

    /** Freezes them, with what was added. */
    freeze(): void {
        fixStackTraces()
        for (let index = 0; index < this.#overridable.length; index++) {
            const [holder, keys] = this.#overridable[index] as [object, readonly PropertyKey[]]
            for (let at = 0; at < keys.length; at++) letOverride(holder, keys[at] as PropertyKey)
        }
        for (let index = 0; index < this.#objects.length; index++) freeze(this.#objects[index])
        for (let index = 0; index < this.#plain.length; index++) preventExtensions(this.#plain[index])
        for (let index = 0; index < this.#globals.length; index++) {
            const key = this.#globals[index] as PropertyKey
            const descriptor = getOwnPropertyDescriptor(globalThis, key)
            if (descriptor?.configurable !== true) continue
            const fixed = hasOwn(descriptor, 'value') ? { writable: false, configurable: false } : { configurable: false }
            defineProperty(globalThis, key, fixed)
        }
    }
}

/** What a step leads to. */
function reached(holder: Record<PropertyKey, unknown>, key: PropertyKey, by: number): unknown {
    if (by === VALUE) return holder[key]
    if (by === PROTOTYPE) return getPrototypeOf(holder)
    const accessor = getOwnPropertyDescriptor(holder, key)
    return by === GETTER ? accessor?.get : accessor?.set
}

/** Nothing where a getter would have to make it first. */
function valueAt(name: PropertyKey): unknown {
    return getOwnPropertyDescriptor(globalThis, name)?.value
}

function named(place: string, key: PropertyKey): string {
    const name = typeof key === 'symbol' ? `[${key.toString()}]` : `.${String(key)}`
    return place === '' ? String(key) : place + name
}

function isOneOf(list: readonly string[], name: string): boolean {
    for (let index = 0; index < list.length; index++) if (list[index] === name) return true
    return false
}

/** Objects of the language that no global name leads to. */
function hidden(): object[] {
    const iterators = [[].values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g)]
    const functions = [async () => {}, function* () {}, async function* () {}]
    return [...iterators.map((iterator) => getPrototypeOf(iterator)), ...functions.map((fn) => getPrototypeOf(fn))]
}

function isObject(value: unknown): value is object {
    return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** What makes stack traces is one function for all calls. */
function fixStackTraces(): void {
    const hook = getOwnPropertyDescriptor(Error, 'prepareStackTrace')
    if (hook?.get === undefined || hook.configurable !== true) return
    const set = () => {
        throw new TypeError("'prepareStackTrace' is read-only")
    }
    defineProperty(Error, 'prepareStackTrace', { get: hook.get, set: preventExtensions(set) })
}

/** An object that inherits this property may have one of its own. */
function letOverride(holder: object, key: PropertyKey): void {
    const descriptor = getOwnPropertyDescriptor(holder, key)
    if (descriptor === undefined || !hasOwn(descriptor, 'value') || descriptor.configurable !== true) return
    const { value, enumerable } = descriptor
    const get = () => value
    // A method has no prototype, which would be one more thing to freeze.
    const { set } = {
        set(this: object, own: unknown): void {
            if (this === holder) throw new TypeError(`'${String(key)}' is read-only`)
            defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true })
        },
    }
    preventExtensions(get)
    preventExtensions(set)
    defineProperty(holder, key, { get, set, enumerable, configurable: false })
}
