/** The bodies of requests and answers. They are whole: there are no streams. */
import { native } from '../host/native.ts'
import { Blob } from './blob.ts'
import { copyOf, isBufferSource } from './bytes.ts'
import { encodeForm, FormData } from './form_data.ts'
import type { Headers } from './headers.ts'
import { URLSearchParams } from './search_params.ts'

/** What was given as a body. */
export interface Content {
    bytes: Uint8Array
    type: string | null
}

export function contentOf(given: unknown): Content | null {
    if (given === undefined || given === null) return null
    if (typeof given === 'string') return { bytes: native.encode(given), type: 'text/plain;charset=UTF-8' }
    if (isBufferSource(given)) return { bytes: copyOf(given), type: null }
    if (given instanceof URLSearchParams) {
        const type = 'application/x-www-form-urlencoded;charset=UTF-8'
        return { bytes: native.encode(String(given)), type }
    }
    if (given instanceof FormData) return encodeForm(given)
    if (given instanceof Blob) return { bytes: Blob.bytes(given), type: given.type === '' ? null : given.type }
    return { bytes: native.encode(String(given)), type: 'text/plain;charset=UTF-8' }
}

/** What requests and answers have in common. */
export class Body {
    #bytes: Uint8Array | null
    #isUsed = false
    readonly headers: Headers

    constructor(bytes: Uint8Array | null, headers: Headers) {
        this.#bytes = bytes
        this.headers = headers
    }

    /** The bytes, which stay where they are. */
    static peek(body: Body): Uint8Array | null {
        if (body.#isUsed) throw new TypeError('Body has already been read')
        return body.#bytes
    }

    get bodyUsed(): boolean {
        return this.#isUsed
    }

    #take(): Uint8Array {
        const bytes = Body.peek(this)
        if (bytes === null) return new Uint8Array()
        this.#isUsed = true
        this.#bytes = null
        return bytes
    }

    async text(): Promise<string> {
        const text = native.decode(this.#take(), 'utf-8', false)
        return text.startsWith('\ufeff') ? text.slice(1) : text
    }

    async json(): Promise<unknown> {
        return JSON.parse(await this.text())
    }

    async bytes(): Promise<Uint8Array> {
        return this.#take()
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
        const { buffer, byteOffset, byteLength } = this.#take()
        return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
    }

    async blob(): Promise<Blob> {
        return new Blob([this.#take()], { type: this.headers.get('content-type') ?? '' })
    }

    async formData(): Promise<FormData> {
        const type = this.headers.get('content-type') ?? ''
        if (!type.startsWith('application/x-www-form-urlencoded')) {
            throw new TypeError(`a body of the type '${type}' cannot be read as a form`)
        }
        const form = new FormData()
        for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value)
        return form
    }
}
