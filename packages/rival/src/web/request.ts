/** `Request`. */
import { AbortController, AbortSignal } from './abort.ts'
import { Body, contentOf } from './body.ts'
import { Headers } from './headers.ts'
import { URL } from './url.ts'

const UPPER = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']
const REFUSED = ['CONNECT', 'TRACE', 'TRACK']
const REDIRECTS = ['follow', 'manual', 'error']

export interface RequestInit {
    method?: unknown
    headers?: unknown
    body?: unknown
    redirect?: unknown
    signal?: AbortSignal | null
}

export class Request extends Body {
    readonly url: string
    readonly method: string
    readonly redirect: string
    readonly signal: AbortSignal

    constructor(input: unknown, init: RequestInit = {}) {
        const from = input instanceof Request ? input : undefined
        const method = methodOf(init.method ?? from?.method ?? 'GET')
        const headers = new Headers(init.headers ?? from?.headers)
        const content = contentOf(init.body)
        const bytes = content?.bytes ?? (from === undefined || init.body !== undefined ? null : Body.share(from))
        if (bytes !== null && (method === 'GET' || method === 'HEAD')) {
            throw new TypeError(`Request with ${method} method cannot have body`)
        }
        if (content?.type && !headers.has('content-type')) headers.set('content-type', content.type)
        super(bytes, headers)
        this.url = from?.url ?? new URL(input).href
        this.method = method
        this.redirect = redirectOf(init.redirect ?? from?.redirect ?? 'follow')
        this.signal = signalOf(init.signal === undefined ? from?.signal : init.signal)
    }

    clone(): Request {
        return new Request(this)
    }

    get [Symbol.toStringTag](): string {
        return 'Request'
    }
}

function methodOf(given: unknown): string {
    const method = String(given)
    const upper = method.toUpperCase()
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(method) || REFUSED.includes(upper)) {
        throw new TypeError(`'${method}' is not a valid HTTP method`)
    }
    return UPPER.includes(upper) ? upper : method
}

function redirectOf(given: unknown): string {
    if (REDIRECTS.includes(given as string)) return given as string
    throw new TypeError(`redirect must be 'follow', 'manual' or 'error', not '${String(given)}'`)
}

function signalOf(given: AbortSignal | null | undefined): AbortSignal {
    if (given === null || given === undefined) return new AbortController().signal
    if (given instanceof AbortSignal) return given
    throw new TypeError('signal must be an AbortSignal')
}
