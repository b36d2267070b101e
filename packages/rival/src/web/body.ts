/** The bodies of requests and answers. What comes from the network is whole: a stream of it has one chunk. */
import { native } from '../host/native.ts'
import { Blob } from './blob.ts'
import { copyOf, isBufferSource } from './bytes.ts'
import { encodeForm, FormData } from './form_data.ts'
import type { Headers } from './headers.ts'
import { URLSearchParams } from './search_params.ts'
import { bytesOf, ReadableStream, streamOf } from './streams.ts'

/** What was given as a body. */
export interface Content {
    bytes: Uint8Array | ReadableStream
    type: string | null
}

export function contentOf(given: unknown): Content | null {
    if (given === undefined || given === null) return null
    if (typeof given === 'string') return { bytes: native.encode(given), type: 'text/plain;charset=UTF-8' }
    if (given instanceof ReadableStream) return { bytes: given, type: null }
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
    #stream: ReadableStream | undefined
    #isUsed = false
    readonly headers: Headers

    constructor(content: Uint8Array | ReadableStream | null, headers: Headers) {
        this.#bytes = content instanceof ReadableStream ? null : content
        this.#stream = content instanceof ReadableStream ? content : undefined
        this.headers = headers
    }

    /** The same content for another body; this one keeps it, too. */
    static share(body: Body): Uint8Array | ReadableStream | null {
        if (body.bodyUsed || body.#stream?.locked) throw new TypeError('Body has already been read')
        if (body.#bytes !== null || body.#stream === undefined) return body.#bytes
        const [mine, theirs] = body.#stream.tee()
        body.#stream = mine
        return theirs
    }

    /** The bytes that are sent: as they are, or when the stream has given them. */
    static sent(body: Body): Uint8Array | null | Promise<Uint8Array> {
        if (body.bodyUsed) throw new TypeError('Body has already been read')
        return body.#bytes !== null || body.#stream === undefined ? body.#bytes : body.#take()
    }

    get body(): ReadableStream | null {
        if (this.#stream === undefined && this.#bytes !== null) this.#stream = streamOf(this.#bytes)
        return this.#stream ?? null
    }

    get bodyUsed(): boolean {
        return this.#isUsed || (this.#stream !== undefined && ReadableStream.isDisturbed(this.#stream))
    }

    async #take(): Promise<Uint8Array> {
        if (this.bodyUsed || this.#stream?.locked) throw new TypeError('Body has already been read')
        const bytes = this.#bytes
        if (bytes === null) return this.#stream === undefined ? new Uint8Array() : bytesOf(this.#stream)
        this.#isUsed = true
        this.#bytes = null
        // Code that holds the stream finds that it was read.
        if (this.#stream !== undefined) await this.#stream.cancel()
        return bytes
    }

    async text(): Promise<string> {
        const text = native.decode(await this.#take(), 'utf-8', false)
        return text.startsWith('\ufeff') ? text.slice(1) : text
    }

    async json(): Promise<unknown> {
        return JSON.parse(await this.text())
    }

    async bytes(): Promise<Uint8Array> {
        return this.#take()
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
        const { buffer, byteOffset, byteLength } = await this.#take()
        return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
    }

    async blob(): Promise<Blob> {
        return new Blob([await this.#take()], { type: this.headers.get('content-type') ?? '' })
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
