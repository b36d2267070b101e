/** `node:string_decoder`: text out of pieces of bytes, none of which needs to end with a character. */
import { Buffer } from 'node:buffer'
import { encodingOf } from './encodings.ts'

/** How many bytes at the end of a piece may belong to a character that goes on. */
function openBytes(bytes: Uint8Array, encoding: string): number {
    if (encoding === 'utf16le') return openUnits(bytes)
    if (encoding === 'base64' || encoding === 'base64url') return bytes.length % 3
    if (encoding !== 'utf8') return 0
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
        const byte = bytes[bytes.length - back] as number
        if (byte < 0x80) return 0
        if (byte < 0xc0) continue
        const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
        return back < length ? back : 0
    }
    return 0
}

function openUnits(bytes: Uint8Array): number {
    const odd = bytes.length % 2
    const high = bytes[bytes.length - odd - 1] ?? 0
    return high >= 0xd8 && high <= 0xdb ? odd + 2 : odd
}

export class StringDecoder {
    encoding: string
    #rest: Uint8Array = new Uint8Array(0)

    constructor(encoding = 'utf8') {
        const known = encodingOf(encoding)
        if (known === undefined) throw new TypeError(`Unknown encoding: ${encoding}`)
        this.encoding = known
    }

    write(piece: string | Uint8Array): string {
        if (typeof piece === 'string') return piece
        const bytes = Buffer.concat([this.#rest, piece])
        const end = bytes.length - openBytes(bytes, this.encoding)
        this.#rest = bytes.subarray(end)
        return bytes.toString(this.encoding, 0, end)
    }

    end(piece?: Uint8Array): string {
        const text = piece === undefined ? '' : this.write(piece)
        const rest = Buffer.from(this.#rest).toString(this.encoding)
        this.#rest = new Uint8Array(0)
        return text + rest
    }
}

export default { StringDecoder }
