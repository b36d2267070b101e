/** `Headers`. */

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/

export class Headers {
    readonly #values = new Map<string, string[]>()

    constructor(init?: unknown) {
        if (init === undefined || init === null) return
        if (typeof init !== 'object') throw new TypeError('Headers are made of an object or of pairs')
        const pairs = Symbol.iterator in init ? Array.from(init as Iterable<unknown>, pairOf) : Object.entries(init)
        for (const [name, value] of pairs) this.append(name, value)
    }

    append(name: unknown, value: unknown): void {
        const key = nameOf(name)
        const values = this.#values.get(key) ?? []
        this.#values.set(key, [...values, valueOf(value, key)])
    }

    delete(name: unknown): void {
        this.#values.delete(nameOf(name))
    }

    get(name: unknown): string | null {
        return this.#values.get(nameOf(name))?.join(', ') ?? null
    }

    getSetCookie(): string[] {
        return [...(this.#values.get('set-cookie') ?? [])]
    }

    has(name: unknown): boolean {
        return this.#values.has(nameOf(name))
    }

    set(name: unknown, value: unknown): void {
        const key = nameOf(name)
        this.#values.set(key, [valueOf(value, key)])
    }

    forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
        for (const [name, value] of this) callback.call(self, value, name, this)
    }

    /** Sorted by name; cookies are not joined. */
    *entries(): IterableIterator<[string, string]> {
        for (const name of [...this.#values.keys()].sort()) {
            const values = this.#values.get(name) ?? []
            if (name === 'set-cookie') for (const value of values) yield [name, value]
            else yield [name, values.join(', ')]
        }
    }

    *keys(): IterableIterator<string> {
        for (const [name] of this.entries()) yield name
    }

    *values(): IterableIterator<string> {
        for (const [, value] of this.entries()) yield value
    }

    [Symbol.iterator](): IterableIterator<[string, string]> {
        return this.entries()
    }

    get [Symbol.toStringTag](): string {
        return 'Headers'
    }
}

function pairOf(given: unknown): [unknown, unknown] {
    const pair = Array.from(given as Iterable<unknown>)
    if (pair.length !== 2) throw new TypeError('Each header must be a [name, value] pair')
    return [pair[0], pair[1]]
}

function nameOf(name: unknown): string {
    const text = String(name)
    if (!NAME.test(text)) throw new TypeError(`${JSON.stringify(text)} is not a header name`)
    return text.toLowerCase()
}

function valueOf(value: unknown, name: string): string {
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
    if (/[\0\r\n]|[^\0-\xff]/.test(text)) throw new TypeError(`the value of header "${name}" has a character that none can have`)
    return text
}
