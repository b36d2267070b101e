/** `URLSearchParams`. */
import { native } from '../host/native.ts'

type Pair = [string, string]

export class URLSearchParams {
    #pairs: Pair[]
    /** Told of every change: the URL that this is part of. */
    #changed: (() => void) | undefined

    constructor(init: unknown = '') {
        this.#pairs = pairsOf(init)
    }

    /** The query of a URL, which changes with it. */
    static of(search: string, changed: () => void): URLSearchParams {
        const params = new URLSearchParams(search)
        params.#changed = changed
        return params
    }

    /** The URL has another query. */
    static reset(params: URLSearchParams, search: string): void {
        params.#pairs = pairsOf(search)
    }

    get size(): number {
        return this.#pairs.length
    }

    append(name: unknown, value: unknown): void {
        this.#pairs.push([String(name), String(value)])
        this.#changed?.()
    }

    delete(name: unknown, value?: unknown): void {
        this.#pairs = this.#pairs.filter((pair) => !isIt(pair, name, value))
        this.#changed?.()
    }

    get(name: unknown): string | null {
        return this.#pairs.find((pair) => isIt(pair, name))?.[1] ?? null
    }

    getAll(name: unknown): string[] {
        return this.#pairs.filter((pair) => isIt(pair, name)).map(([, value]) => value)
    }

    has(name: unknown, value?: unknown): boolean {
        return this.#pairs.some((pair) => isIt(pair, name, value))
    }

    set(name: unknown, value: unknown): void {
        const first = this.#pairs.find((pair) => isIt(pair, name))
        if (first === undefined) return this.append(name, value)
        this.#pairs = this.#pairs.filter((pair) => pair === first || !isIt(pair, name))
        first[1] = String(value)
        this.#changed?.()
    }

    sort(): void {
        this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        this.#changed?.()
    }

    forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
        for (const [name, value] of this) callback.call(self, value, name, this)
    }

    *entries(): IterableIterator<Pair> {
        // By index, as it may change meanwhile.
        for (let index = 0; index < this.#pairs.length; index++) yield [...(this.#pairs[index] as Pair)]
    }

    *keys(): IterableIterator<string> {
        for (const [name] of this.entries()) yield name
    }

    *values(): IterableIterator<string> {
        for (const [, value] of this.entries()) yield value
    }

    [Symbol.iterator](): IterableIterator<Pair> {
        return this.entries()
    }

    toString(): string {
        return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
    }

    get [Symbol.toStringTag](): string {
        return 'URLSearchParams'
    }
}

function isIt([known, held]: Pair, name: unknown, value?: unknown): boolean {
    return known === String(name) && (value === undefined || held === String(value))
}

function pairsOf(init: unknown): Pair[] {
    if (typeof init !== 'object' || init === null) return parse(String(init))
    if (Symbol.iterator in init) return Array.from(init as Iterable<unknown>, pairOf)
    return Object.entries(init).map(([name, value]) => [name, String(value)])
}

function pairOf(given: unknown): Pair {
    const pair = Array.from(given as Iterable<unknown>)
    if (pair.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple')
    return [String(pair[0]), String(pair[1])]
}

function parse(text: string): Pair[] {
    const query = text.startsWith('?') ? text.slice(1) : text
    const parts = query.split('&').filter((part) => part !== '')
    return parts.map((part) => {
        const at = part.indexOf('=')
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
    })
}

function decode(text: string): string {
    const spaced = text.replaceAll('+', ' ')
    if (!spaced.includes('%')) return spaced
    try {
        return decodeURIComponent(spaced)
    } catch {
        return decodeLoosely(spaced)
    }
}

/** What is not UTF-8, or has a `%` that stands for itself. */
function decodeLoosely(text: string): string {
    const bytes = native.encode(text)
    const out: number[] = []
    for (let at = 0; at < bytes.length; at++) {
        const hex = bytes[at] === 0x25 ? String.fromCharCode(...bytes.slice(at + 1, at + 3)) : ''
        if (/^[\da-f]{2}$/i.test(hex)) {
            out.push(Number.parseInt(hex, 16))
            at += 2
        } else {
            out.push(bytes[at] as number)
        }
    }
    return native.decode(Uint8Array.from(out), 'utf-8', false)
}

function encode(text: string): string {
    return encodeURIComponent(text.toWellFormed())
        .replaceAll('%20', '+')
        .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
