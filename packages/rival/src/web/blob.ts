/** `Blob` and `File`. */
import { native } from '../host/native.ts'
import { concat, copyOf, isBufferSource } from './bytes.ts'

interface BlobOptions {
    type?: string
}

export class Blob {
    readonly #bytes: Uint8Array
    readonly type: string

    constructor(parts: Iterable<unknown> = [], options: BlobOptions = {}) {
        this.#bytes = concat(Array.from(parts, bytesOf))
        const type = options.type === undefined ? '' : String(options.type)
        this.type = /[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase()
    }

    /** The bytes themselves, not a copy. */
    static bytes(blob: Blob): Uint8Array {
        return blob.#bytes
    }

    get size(): number {
        return this.#bytes.length
    }

    async text(): Promise<string> {
        return native.decode(this.#bytes, 'utf-8', false)
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
        return this.#bytes.slice().buffer as ArrayBuffer
    }

    async bytes(): Promise<Uint8Array> {
        return this.#bytes.slice()
    }

    slice(start?: number, end?: number, type = ''): Blob {
        return new Blob([this.#bytes.slice(start, end)], { type })
    }

    get [Symbol.toStringTag](): string {
        return 'Blob'
    }
}

function bytesOf(part: unknown): Uint8Array {
    if (part instanceof Blob) return Blob.bytes(part)
    if (isBufferSource(part)) return copyOf(part)
    return native.encode(String(part))
}

export class File extends Blob {
    readonly name: string
    readonly lastModified: number

    constructor(parts: Iterable<unknown>, name: unknown, options: BlobOptions & { lastModified?: number } = {}) {
        super(parts, options)
        this.name = String(name)
        this.lastModified = options.lastModified ?? Date.now()
    }

    override get [Symbol.toStringTag](): string {
        return 'File'
    }
}
