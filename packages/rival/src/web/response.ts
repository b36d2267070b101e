/** `Response`. */
import type { FetchAnswer } from '../native.ts'
import { Body, contentOf } from './body.ts'
import { Headers } from './headers.ts'
import { URL } from './url.ts'

const EMPTY = [101, 103, 204, 205, 304]
const REDIRECTS = [301, 302, 303, 307, 308]

interface ResponseInit {
    status?: number
    statusText?: string
    headers?: unknown
}

export class Response extends Body {
    readonly status: number
    readonly statusText: string
    #url = ''
    #redirected = false
    #type = 'default'

    constructor(given?: unknown, init: ResponseInit = {}) {
        const status = init.status ?? 200
        if (!Number.isInteger(status) || status < 200 || status > 599) {
            throw new RangeError(`a Response's status is from 200 to 599, not ${status}`)
        }
        const content = contentOf(given)
        if (content !== null && EMPTY.includes(status)) {
            throw new TypeError(`a Response with status ${status} cannot have a body`)
        }
        const headers = new Headers(init.headers)
        if (content?.type && !headers.has('content-type')) headers.set('content-type', content.type)
        super(content?.bytes ?? null, headers)
        this.status = status
        this.statusText = init.statusText === undefined ? '' : String(init.statusText)
    }

    /** What a server answered. */
    static of({ status, statusText, url, redirected, headers, body }: FetchAnswer): Response {
        const bytes = EMPTY.includes(status) ? null : body
        const response = new Response(bytes, { status: Math.max(status, 200), statusText, headers })
        response.#url = url.split('#')[0] ?? url
        response.#redirected = redirected
        response.#type = 'basic'
        return response
    }

    static json(value: unknown, init: ResponseInit = {}): Response {
        const text = JSON.stringify(value)
        if (text === undefined) throw new TypeError('the value is not JSON')
        const headers = new Headers(init.headers)
        if (!headers.has('content-type')) headers.set('content-type', 'application/json')
        return new Response(text, { ...init, headers })
    }

    static error(): Response {
        const response = new Response()
        Object.defineProperty(response, 'status', { value: 0 })
        response.#type = 'error'
        return response
    }

    static redirect(url: unknown, status = 302): Response {
        if (!REDIRECTS.includes(status)) throw new RangeError(`${status} is not the status of a redirect`)
        return new Response(null, { status, headers: { location: new URL(url).href } })
    }

    get ok(): boolean {
        return this.status >= 200 && this.status < 300
    }

    get url(): string {
        return this.#url
    }

    get redirected(): boolean {
        return this.#redirected
    }

    get type(): string {
        return this.#type
    }

    clone(): Response {
        const { status, statusText, headers } = this
        const copy = new Response(Body.share(this), { status, statusText, headers })
        copy.#url = this.#url
        copy.#redirected = this.#redirected
        copy.#type = this.#type
        return copy
    }

    get [Symbol.toStringTag](): string {
        return 'Response'
    }
}
