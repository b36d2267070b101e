/**
 * Built-ins: what the language and the platform bring along. A file may add to them while it is loaded, as polyfills do.
 * Then they are frozen, so that no call changes what the calls after it find.
 *
 * What belongs to the core of the language may not be replaced, not even by the file itself: the host records results with
 * it, and would record others.
 */

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

interface Member {
    /** The name of its holder, for messages. */
    place: string
    holder: object
    key: PropertyKey
    value: unknown
}

/** The built-ins of a realm before any code of its author. */
export class Builtins {
    readonly #core: Member[] = []
    readonly #objects: object[] = []
    /** Functions with nothing of their own, which only need to stay so: freezing them would cost memory. */
    readonly #plain: object[] = []
    readonly #found = new Set<object>([globalThis])
    readonly #globals = ownKeys(globalThis)
    readonly #overridable: [object, readonly PropertyKey[]][] = []

    /** To be called when the platform is there and nothing else is. */
    constructor(more: readonly unknown[]) {
        for (const name of CORE) this.#note(name, (globalThis as Record<string, any>)[name])
        this.add([...this.#globals.map(valueAt), ...hidden(), ...more])
        for (const name of this.#globals) this.#noteOverridden(name)
    }

    /** More that is to be frozen, with all that it leads to. */
    add(more: readonly unknown[]): void {
        for (const object of more) this.#reach(object)
    }

    #note(name: string, value: any): void {
        this.#core.push({ place: '', holder: globalThis, key: name, value })
        this.#noteAll(name, value)
        if (hasOwn(value, 'prototype')) this.#noteAll(`${name}.prototype`, value.prototype)
    }

    #noteAll(place: string, holder: object): void {
        for (const key of ownKeys(holder)) {
            const descriptor = getOwnPropertyDescriptor(holder, key)
            if (descriptor !== undefined && hasOwn(descriptor, 'value')) {
                this.#core.push({ place, holder, key, value: descriptor.value })
            }
        }
    }

    /** Adds an object and all that it leads to. */
    #reach(from: unknown): void {
        const open = [from]
        while (open.length > 0) {
            const object = open.pop()
            if (!isObject(object) || this.#found.has(object)) continue
            this.#found.add(object)
            const keys = ownKeys(object)
            if (typeof object === 'function' && keys.length <= 2) {
                this.#plain.push(object)
                continue
            }
            this.#objects.push(object)
            open.push(getPrototypeOf(object))
            for (const key of keys) {
                const descriptor = getOwnPropertyDescriptor(object, key) as PropertyDescriptor
                if (isObject(descriptor.value)) open.push(descriptor.value)
                else if (descriptor.get !== undefined) open.push(descriptor.get, descriptor.set)
            }
        }
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
            const { place, holder, key, value } = this.#core[index] as Member
            const now = getOwnPropertyDescriptor(holder, key)
            if (now === undefined || !is(now.value, value)) return `replaces the built-in \`${named(place, key)}\``
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
            const { holder, key, value } = this.#core[index] as Member
            const now = getOwnPropertyDescriptor(holder, key)
            if (now?.configurable === false) continue
            if (now === undefined || !is(now.value, value)) {
                defineProperty(holder, key, { value, writable: true, enumerable: false, configurable: true })
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

function valueAt(name: PropertyKey): unknown {
    return (globalThis as Record<PropertyKey, unknown>)[name]
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
    defineProperty(Error, 'prepareStackTrace', { get: hook.get, set })
}

/** An object that inherits this property may have one of its own. */
function letOverride(holder: object, key: PropertyKey): void {
    const descriptor = getOwnPropertyDescriptor(holder, key)
    if (descriptor === undefined || !hasOwn(descriptor, 'value') || descriptor.configurable !== true) return
    const { value, enumerable } = descriptor
    const set = function (this: object, own: unknown): void {
        if (this === holder) throw new TypeError(`'${String(key)}' is read-only`)
        defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true })
    }
    defineProperty(holder, key, { get: () => value, set, enumerable, configurable: false })
}
