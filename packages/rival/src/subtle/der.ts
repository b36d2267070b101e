/** As much of DER as keys are written in. */
import { concat } from '../web/bytes.ts'

export const INTEGER = 0x02
export const BITS = 0x03
export const SEQUENCE = 0x30

export function written(tag: number, ...parts: Uint8Array[]): Uint8Array {
    const body = concat(parts)
    const size: number[] = []
    for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) size.unshift(rest % 256)
    const length = body.length < 128 ? [body.length] : [128 + size.length, ...size]
    return concat([Uint8Array.from([tag, ...length]), body])
}

/** A number that is not negative, given without its leading zeros or with them. */
export function integer(bytes: Uint8Array): Uint8Array {
    const start = bytes.findIndex((byte) => byte !== 0)
    const plain = start < 0 ? Uint8Array.of(0) : bytes.subarray(start)
    return written(INTEGER, (plain[0] as number) > 127 ? concat([Uint8Array.of(0), plain]) : plain)
}

export interface DerValue {
    tag: number
    body: Uint8Array
}

/** The values that follow each other in some bytes. */
export function read(bytes: Uint8Array): DerValue[] {
    const values: DerValue[] = []
    for (let at = 0; at < bytes.length;) {
        const tag = bytes[at++] as number
        let length = bytes[at++] as number
        if (length > 127) {
            const count = length - 128
            length = bytes.subarray(at, at + count).reduce((sum, byte) => sum * 256 + byte, 0)
            at += count
        }
        if (!(at + length <= bytes.length)) throw new TypeError('the key is cut off')
        values.push({ tag, body: bytes.subarray(at, at + length) })
        at += length
    }
    return values
}

/** The numbers in a sequence, without leading zeros. */
export function integers(bytes: Uint8Array): Uint8Array[] {
    return read(bytes).filter(({ tag }) => tag === INTEGER).map(({ body }) => (body.length > 1 && body[0] === 0 ? body.subarray(1) : body))
}
