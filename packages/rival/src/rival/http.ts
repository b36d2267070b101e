/** `httpStep`: sends a request and records the answer. It does what `http_step` does for authors in Rust. */
import { durationMs } from '../duration.ts'
import { realm } from '../realm.ts'
import { predefine } from './identity.ts'
import * as read from './options.ts'
import type { Fn } from './options.ts'
import { kindOf, refuse } from './refuse.ts'
import { StepError } from './step_error.ts'

const TIMEOUT_MS = 30_000
const BODY_MAX = 8 * 1024 * 1024
/** How much of a body a failure shows. */
const EXCERPT = 200
/** Statuses that ask to come back later. */
const PASSING = [408, 425, 429]

interface Options {
    url?: unknown
    method?: unknown
    query?: unknown
    headers?: unknown
    body?: unknown
    timeout?: unknown
    expect?: unknown
    maxBodyBytes?: number
}

interface Answer {
    status: number
    headers: Record<string, string>
    body: unknown
}

/** A request in words. Queries and user names may hold secrets, so they are in none. */
interface Line {
    short: string
    long: string
}

export function httpStep(given: unknown): Fn {
    const options = read.readOptions(given, 'httpStep', {
        url: read.anything,
        method: read.anything,
        query: read.anything,
        headers: read.anything,
        body: read.anything,
        timeout: read.anything,
        expect: read.anything,
        maxBodyBytes: read.count,
    })
    if (options.url === undefined) refuse('httpStep has no `url`', "write httpStep({ url: 'https://…' })")
    if (options.timeout !== undefined && typeof options.timeout !== 'function') {
        read.duration(options.timeout, 'httpStep: `timeout`')
    }
    const step = (context: any) => request(options, context)
    const asks = Object.values(options).some((option) => typeof option === 'function')
    // What the options' functions use is not looked at: they may use everything.
    const source = asks ? '(context) => use(context)' : '({ run, state }) => [run.abortSignal, run.idempotencyKey, state]'
    return predefine(step, 'http', source, options)
}

async function request(options: Options, context: any): Promise<Answer> {
    const start = performance.now()
    const valueOf = async (option: unknown) => (typeof option === 'function' ? option(context) : option)
    const method = String((await valueOf(options.method)) ?? 'GET').toUpperCase()
    let line: Line = { short: method, long: method }
    const describe = (word: string) => {
        const took = Math.round(performance.now() - start)
        context.state.description = word === 'not sent' ? `${line.short} -> ${word}` : `${line.short} -> ${word} (${took} ms)`
    }
    try {
        const url = urlOf(await valueOf(options.url), await valueOf(options.query))
        line = { short: `${method} ${url.pathname}`, long: `${method} ${url.origin}${url.pathname}` }
        const init = requestOf(method, await valueOf(options.headers), await valueOf(options.body), context.run)
        const timeoutMs = durationMs((await valueOf(options.timeout)) ?? TIMEOUT_MS, 'httpStep: `timeout`')
        const isTraced = context.run.traceparent !== undefined
        if (isTraced) realm().tell('http.sends', addressOf(method, url))
        const answer = await exchange(url, init, timeoutMs, options.maxBodyBytes ?? BODY_MAX, line, context)
        if (isTraced) realm().tell('http.isAnswered', { status: answer.status })
        describe(String(answer.status))
        return judge(answer, await valueOf(options.expect), line)
    } catch (error) {
        const word = WORDS[(error as { code?: string }).code ?? '']
        if (word !== undefined) describe(word)
        throw error
    }
}

/** Where a request goes, for the trace. Queries and user names may hold secrets. */
function addressOf(method: string, url: any): object {
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
    return { method, url: `${url.origin}${url.pathname}`, host: url.hostname, port }
}

const WORDS: Record<string, string> = {
    http_request: 'not sent',
    http_timeout: 'timed out',
    http_connect: 'cannot connect',
    http_broken: 'broken off',
    out_of_memory: 'no memory for it',
    payload_too_large: 'too large',
    address_not_allowed: 'not allowed',
}

function wrong(what: string): StepError {
    return new StepError(`the request is wrong: ${what}`, { code: 'http_request' })
}

function urlOf(given: unknown, query: unknown): any {
    let url
    try {
        url = new URL(String(given))
    } catch {
        throw wrong(`its URL: ${kindOf(given)}`)
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw wrong(`its URL begins with \`${url.protocol}\`, not with \`https:\` or \`http:\``)
    }
    for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined && value !== null) url.searchParams.append(name, String(value))
    }
    return url
}

function requestOf(method: string, given: unknown, body: unknown, run: any): any {
    let headers
    try {
        headers = new Headers((given ?? {}) as any)
    } catch (error) {
        throw wrong(`its headers: ${(error as Error).message}`)
    }
    const set = (name: string, value: string) => {
        if (!headers.has(name)) headers.set(name, value)
    }
    const changesSomething = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
    if (changesSomething) set('idempotency-key', bytesAsText(run.idempotencyKey))
    if (run.traceparent !== undefined) set('traceparent', run.traceparent)
    if (body === undefined || body === null) return { method, headers }
    const isText = typeof body === 'string'
    set('content-type', isText ? 'text/plain; charset=utf-8' : 'application/json')
    return { method, headers, body: isText ? body : JSON.stringify(body) }
}

/** Keys hold run ids, which may be any text; a header takes its bytes. */
function bytesAsText(text: string): string {
    return Array.from(new TextEncoder().encode(text) as Uint8Array, (byte) => String.fromCharCode(byte)).join('')
}

async function exchange(url: any, init: any, timeoutMs: number, max: number, line: Line, context: any): Promise<Answer> {
    const late = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([context.run.abortSignal, late])
    try {
        const response = await fetch(url, { ...init, signal })
        const text = await response.text()
        if (text.length > max) {
            const message = `${line.long}: the answer has more than ${max} bytes; allow more with \`maxBodyBytes\``
            throw new StepError(message, { code: 'payload_too_large' })
        }
        const headers = Object.fromEntries(response.headers)
        return { status: response.status, headers, body: bodyOf(text, headers['content-type']) }
    } catch (error) {
        throw failed(error as Error, late.aborted, timeoutMs, line)
    }
}

/** A plain error, which is tried again while attempts remain, unless trying again cannot help. */
function failed(error: Error & { code?: string }, isLate: boolean, ms: number, line: Line): Error {
    if (error instanceof StepError) return error
    if (isLate) return plain(`${line.long}: no answer within ${ms} ms`, 'http_timeout')
    if (error.name === 'AbortError' || error.name === 'TimeoutError') return error
    const why = error.message.replace(/^fetch failed: /, '')
    switch (error.code) {
        case 'http_connect':
            return plain(`${line.long}: cannot connect: ${why}`, 'http_connect')
        case 'http_request':
            return wrong(why)
        case 'http_timeout':
        case 'out_of_memory':
            return plain(`${line.long}: ${why}`, error.code)
        // Trying again changes nothing about these.
        case 'payload_too_large':
        case 'address_not_allowed':
            return new StepError(`${line.long}: ${why}`, { code: error.code })
        default:
            return plain(`${line.long}: ${why}`, 'http_broken')
    }
}

function plain(message: string, code: string, details?: unknown): Error {
    return Object.assign(new Error(message), details === undefined ? { code } : { code, details })
}

function bodyOf(text: string, kind: string | undefined): unknown {
    if (text === '') return null
    if (kind !== undefined && !/[/+]json/i.test(kind)) return text
    try {
        return JSON.parse(text)
    } catch {
        return text
    }
}

/** Whether an answer counts as one. */
function judge(answer: Answer, expect: unknown, line: Line): Answer {
    const { status, body } = answer
    if (isExpected(status, expect)) return answer
    const message = `${line.long} answered ${status}${excerpt(body)}`
    const details = { status, body }
    if (PASSING.includes(status) || status >= 500) throw plain(message, 'http_status', details)
    throw new StepError(message, { code: 'http_status', details })
}

function isExpected(status: number, expect: unknown): boolean {
    if (expect === undefined || expect === 'success') return status >= 200 && status < 300
    if (expect === 'any') return true
    if (typeof expect === 'number') return status === expect
    if (Array.isArray(expect)) return expect.includes(status)
    throw wrong(`\`expect\` must be 'success', 'any', a status or a list of them, not ${kindOf(expect)}`)
}

function excerpt(body: unknown): string {
    if (body === null) return ''
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return `: ${text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text}`
}

// What the host has and TypeScript's own library does not.
declare const AbortSignal: any
declare const TextEncoder: any
declare const Headers: any
declare const URL: any
declare const fetch: any
declare const performance: { now(): number }
