/** Requests that a test answers. */

/** A request as the step sent it, with its body in base64. */
export interface SentRequest {
    url: string
    method: string
    headers: [string, string][]
    body: string | null
}

type Answer = (request: unknown) => unknown

/** Answers by URL, a function for all requests, or the network. */
export type FetchMocks = Record<string, unknown> | Answer | 'real'

/** What a step is told of its request. */
export async function answerRequest(mocks: FetchMocks, sent: SentRequest): Promise<object> {
    if (mocks === 'real') return { real: true }
    const found = typeof mocks === 'function' ? mocks : mockFor(mocks, sent)
    const given = typeof found === 'function' ? await found(requestOf(sent)) : found
    if (given !== undefined) return answerOf(given, sent.url)
    const message = notMocked(mocks, sent)
    // The step may catch the error and go on as without a network.
    console.error(message)
    throw new TypeError(message)
}

function notMocked(mocks: FetchMocks, { method, url }: SentRequest): string {
    const known = typeof mocks === 'object' && Object.keys(mocks).length > 0 ? `; there are: ${Object.keys(mocks).join(', ')}` : ''
    const advice = "add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests"
    return `no mock takes the request ${method} ${url}${known}; ${advice}`
}

/** The first mock whose key is like the request. */
function mockFor(mocks: Record<string, unknown>, sent: SentRequest): unknown {
    return Object.entries(mocks).find(([key]) => takes(key, sent))?.[1]
}

/** A key is a URL, perhaps with a method before it. `*` stands for any text, and a URL without a query takes all queries. */
function takes(key: string, { method, url }: SentRequest): boolean {
    const [, wanted, pattern = ''] = /^(?:([A-Za-z]+)\s+)?(.*)$/s.exec(key) ?? []
    if (wanted !== undefined && wanted.toUpperCase() !== method) return false
    const sent = url.split('#')[0] ?? url
    const compared = pattern.includes('?') ? sent : (sent.split('?')[0] ?? sent)
    const parts = normal(pattern).split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`, 's').test(compared)
}

/** As a URL is sent: `https://example.com` has a path. */
function normal(pattern: string): string {
    return URL.canParse(pattern) ? new URL(pattern).href : pattern
}

function requestOf({ url, method, headers, body }: SentRequest): unknown {
    const content = body === null ? undefined : Uint8Array.from(atob(body), (char) => char.charCodeAt(0))
    return new Request(url, { method, headers, body: content })
}

/** A response, or what one is made of: a text, or JSON. */
async function answerOf(given: unknown, url: string): Promise<object> {
    const response = given instanceof Response ? given : typeof given === 'string' ? new Response(given) : Response.json(given)
    // As `Response.error()` has it.
    if (response.status === 0) throw new TypeError(`${url} cannot be reached: the test says so`)
    const { status, statusText, headers } = response
    const bytes: Uint8Array = await response.bytes()
    const body = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    return { status, statusText, url, redirected: false, headers: Array.from(headers), body }
}

// What the host has and TypeScript's own library does not.
declare const URL: any
declare const Request: any
declare const Response: any
declare const console: { error(text: string): void }
declare function atob(text: string): string
declare function btoa(text: string): string
