/** `TextEncoder` and `TextDecoder`. */
import { native } from '../host/native.ts'
import { type BufferSource, concat, viewOf } from './bytes.ts'

export class TextEncoder {
    get encoding(): string {
        return 'utf-8'
    }

    encode(text: unknown = ''): Uint8Array {
        return native.encode(String(text))
    }

    encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
        let read = 0
        let written = 0
        for (const char of String(text)) {
            const bytes = native.encode(char)
            if (written + bytes.length > into.length) break
            into.set(bytes, written)
            written += bytes.length
            read += char.length
        }
        return { read, written }
    }

    get [Symbol.toStringTag](): string {
        return 'TextEncoder'
    }
}

type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252'

const LABELS: Record<Encoding, string[]> = {
    'utf-8': ['utf-8', 'utf8', 'unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'x-unicode20utf8'],
    'utf-16le': ['utf-16le', 'utf-16', 'unicode', 'ucs-2', 'unicodefeff', 'iso-10646-ucs-2', 'csunicode'],
    'windows-1252': ['windows-1252', 'latin1', 'iso-8859-1', 'iso8859-1', 'l1', 'ascii', 'us-ascii', 'cp1252', 'x-cp1252'],
}

interface DecoderOptions {
    fatal?: boolean
    ignoreBOM?: boolean
}

export class TextDecoder {
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    /** Bytes of a character whose others are still to come. */
    #rest: Uint8Array = new Uint8Array()
    #isInside = false

    constructor(label: unknown = 'utf-8', options: DecoderOptions = {}) {
        const wanted = String(label).trim().toLowerCase()
        const found = Object.entries(LABELS).find(([, labels]) => labels.includes(wanted))
        if (found === undefined) throw new RangeError(`The "${String(label)}" encoding is not supported`)
        this.encoding = found[0]
        this.fatal = Boolean(options.fatal)
        this.ignoreBOM = Boolean(options.ignoreBOM)
    }

    decode(source?: BufferSource, options: { stream?: boolean } = {}): string {
        const given = source === undefined ? new Uint8Array() : viewOf(source)
        let bytes = this.#rest.length === 0 ? given : concat([this.#rest, given])
        const isMore = Boolean(options.stream)
        const end = isMore ? bytes.length - unfinished(bytes, this.encoding) : bytes.length
        this.#rest = bytes.slice(end)
        bytes = bytes.subarray(0, end)
        let text
        try {
            text = native.decode(bytes, this.encoding, this.fatal)
        } catch (error) {
            this.#rest = new Uint8Array()
            this.#isInside = false
            throw error
        }
        const isFirst = !this.#isInside
        this.#isInside = isMore && (this.#isInside || text !== '')
        const hasMark = isFirst && !this.ignoreBOM && this.encoding !== 'windows-1252' && text.startsWith('\ufeff')
        return hasMark ? text.slice(1) : text
    }

    get [Symbol.toStringTag](): string {
        return 'TextDecoder'
    }
}

/** How many bytes at the end begin a character that is not complete. */
function unfinished(bytes: Uint8Array, encoding: string): number {
    const { length } = bytes
    if (encoding === 'utf-16le') {
        const odd = length % 2
        const high = bytes[length - odd - 1] ?? 0
        return length - odd >= 2 && high >= 0xd8 && high <= 0xdb ? odd + 2 : odd
    }
    if (encoding !== 'utf-8') return 0
    for (let back = 1; back <= Math.min(3, length); back++) {
        const byte = bytes[length - back] ?? 0
        if (byte < 0x80) return 0
        if (byte < 0xc0) continue
        const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
        return needs > back ? back : 0
    }
    return 0
}
