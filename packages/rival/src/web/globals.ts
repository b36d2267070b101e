/** What scripts find in the global object. */
import * as abort from './abort.ts'
import { atob, btoa } from './base64.ts'
import { Blob, File } from './blob.ts'
import { structuredClone } from './clone.ts'
import { console } from './console.ts'
import { crypto } from './crypto.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { CustomEvent, Event, EventTarget } from './events.ts'
import { fetch } from './fetch.ts'
import { FormData } from './form_data.ts'
import { native } from '../host/native.ts'
import { Headers } from './headers.ts'
import { installLocales } from './locale.ts'
import { makePerformance } from './performance.ts'
import { makeProcess } from './process.ts'
import { reportError } from './report.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { URLSearchParams } from './search_params.ts'
import * as streams from './streams.ts'
import * as timers from './timers.ts'
import { URL } from './url.ts'
import { installVirtualDate } from './virtual_date.ts'

/** Puts it there. As on other platforms, it can be replaced and is not listed. */
export function installGlobals(): void {
    installVirtualDate()
    const { AbortController, AbortSignal, DOMException } = abort
    const { queueMicrotask, setImmediate, setInterval, setTimeout } = timers
    const clear = { clearImmediate: timers.clearTimer, clearInterval: timers.clearTimer, clearTimeout: timers.clearTimer }
    define({ AbortController, AbortSignal, CustomEvent, DOMException, Event, EventTarget, reportError })
    define({ queueMicrotask, setImmediate, setInterval, setTimeout, ...clear })
    define({ Blob, File, FormData, Headers, Request, Response, URL, URLSearchParams, fetch })
    const { ReadableStream, ReadableStreamDefaultReader, TextDecoderStream, TransformStream, WritableStream } = streams
    define({ ReadableStream, ReadableStreamDefaultReader, TextDecoderStream, TransformStream, WritableStream })
    define({ TextDecoder, TextEncoder, atob, btoa, structuredClone })
    installLocales()
    define({ console, crypto, performance: makePerformance(), process: makeProcess() })
    // Other platforms' names for it, which packages use.
    define({ global: globalThis, self: globalThis })
    defineLater('Intl', () => native.namespace('rival:intl').default)
    defineLater('CryptoKey', () => native.namespace('rival:subtle').CryptoKey)
    defineLater('Buffer', () => native.namespace('node:buffer').Buffer)
}

/** Few files use it, so it is made when one asks for it. A file may put its own in its place. */
function defineLater(name: string, make: () => unknown): void {
    let made: unknown
    const get = () => (made ??= make())
    const set = (value: unknown) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false })
    Object.freeze(get)
    Object.freeze(set)
    Object.defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false })
}

function define(values: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(values)) {
        // The bundler renames what hides a global.
        if (typeof value === 'function') Object.defineProperty(value, 'name', { value: name, configurable: true })
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false })
    }
}
