/** `URL`. Rust parses; this only keeps what it found. */
import { native } from '../host/native.ts'
import type { UrlParts } from '../native.ts'
import { URLSearchParams } from './search_params.ts'

export class URL {
    #parts: UrlParts
    #params: URLSearchParams | undefined

    constructor(input: unknown, base?: unknown) {
        const parts = parse(input, base)
        if (parts === null) {
            throw Object.assign(new TypeError(`Invalid URL: ${String(input)}`), { code: 'ERR_INVALID_URL' })
        }
        this.#parts = parts
    }

    static canParse(input: unknown, base?: unknown): boolean {
        return parse(input, base) !== null
    }

    static parse(input: unknown, base?: unknown): URL | null {
        return URL.canParse(input, base) ? new URL(input, base) : null
    }

    get searchParams(): URLSearchParams {
        this.#params ??= URLSearchParams.of(this.#parts.search, () => {
            this.#set('search', String(this.#params), true)
        })
        return this.#params
    }

    get origin(): string {
        return this.#parts.origin
    }

    get href(): string {
        return this.#parts.href
    }

    set href(value: string) {
        const parts = parse(value)
        if (parts === null) throw new TypeError(`Invalid URL: ${value}`)
        this.#take(parts)
    }

    /** What cannot be set is left as it was. */
    #set(part: keyof UrlParts, value: unknown, isOurs = false): void {
        const parts = native.urlSet(this.#parts.href, part, String(value))
        if (parts === null) return
        if (isOurs) this.#parts = parts
        else this.#take(parts)
    }

    #take(parts: UrlParts): void {
        this.#parts = parts
        if (this.#params !== undefined) URLSearchParams.reset(this.#params, parts.search)
    }

    toString(): string {
        return this.#parts.href
    }

    toJSON(): string {
        return this.#parts.href
    }

    get [Symbol.toStringTag](): string {
        return 'URL'
    }

    static {
        const parts = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'] as const
        for (const part of parts) {
            Object.defineProperty(URL.prototype, part, {
                configurable: true,
                enumerable: true,
                get(this: URL) {
                    return this.#parts[part]
                },
                set(this: URL, value: unknown) {
                    this.#set(part, value)
                },
            })
        }
    }
}

function parse(input: unknown, base?: unknown): UrlParts | null {
    return base === undefined ? native.url(String(input)) : native.url(String(input), String(base))
}
