/** `node:buffer`: bytes with the methods that packages for Node.js expect of them. */
import { decoded, encoded, type Encoding, encodingOf } from './encodings.ts'

/** The methods are those of a class: they are defined, and not assigned over what is frozen. */
class Bytes extends Uint8Array {
    toString(encoding?: string, start = 0, end = this.length): string {
        return decoded(this.subarray(start, end), known(encoding))
    }

    toJSON(): { type: string; data: number[] } {
        return { type: 'Buffer', data: Array.from(this) }
    }

    equals(other: Uint8Array): boolean {
        return compare(this, other) === 0
    }

    compare(other: Uint8Array, start = 0, end = other.length, from = 0, to = this.length): number {
        return compare(this.subarray(from, to), other.subarray(start, end))
    }

    /** Shares its memory, unlike that of arrays. */
    slice(start?: number, end?: number): any {
        return this.subarray(start, end)
    }

    subarray(start?: number, end?: number): any {
        const part = Uint8Array.prototype.subarray.call(asPlain(this), start, end)
        return made(part)
    }

    copy(target: Uint8Array, at = 0, start = 0, end = this.length): number {
        const part = Uint8Array.prototype.subarray.call(asPlain(this), start, Math.min(end, start + target.length - at))
        target.set(part, at)
        return part.length
    }

    write(text: string, ...rest: unknown[]): number {
        const encoding = rest.find((it) => typeof it === 'string') as string | undefined
        const [at = 0, length = this.length - at] = rest.filter((it) => typeof it === 'number') as number[]
        const bytes = encoded(text, known(encoding)).subarray(0, Math.min(length, this.length - at))
        this.set(bytes, at)
        return bytes.length
    }

    fill(value: any, ...rest: any[]): this {
        const encoding = rest.find((it) => typeof it === 'string')
        const [start = 0, end = this.length] = rest.filter((it) => typeof it === 'number')
        if (typeof value === 'number') return super.fill(value & 255, start, end)
        const bytes = bytesOf(value, encoding)
        for (let at = start; at < end; at++) this[at] = bytes.length === 0 ? 0 : (bytes[(at - start) % bytes.length] as number)
        return this
    }

    indexOf(value: any, from: any = 0, encoding?: string): number {
        if (typeof value === 'number') return super.indexOf(value & 255, from)
        const start = from < 0 ? Math.max(0, this.length + from) : from
        return search(this, bytesOf(value, typeof from === 'string' ? from : encoding), Number(start) || 0, 1)
    }

    lastIndexOf(value: any, from: any = this.length, encoding?: string): number {
        if (typeof value === 'number') return super.lastIndexOf(value & 255, from)
        const bytes = bytesOf(value, encoding)
        return search(this, bytes, Math.min(from < 0 ? this.length + from : from, this.length - bytes.length), -1)
    }

    includes(value: any, from: any = 0, encoding?: string): boolean {
        return this.indexOf(value, from, encoding) !== -1
    }

    swap16(): this {
        return swapped(this, 2)
    }

    swap32(): this {
        return swapped(this, 4)
    }

    swap64(): this {
        return swapped(this, 8)
    }

    readUIntBE(at: number, size: number): number {
        let value = 0
        for (let index = 0; index < size; index++) value = value * 256 + byteAt(this, at + index)
        return value
    }

    readUIntLE(at: number, size: number): number {
        let value = 0
        for (let index = size - 1; index >= 0; index--) value = value * 256 + byteAt(this, at + index)
        return value
    }

    readIntBE(at: number, size: number): number {
        return signed(this.readUIntBE(at, size), size)
    }

    readIntLE(at: number, size: number): number {
        return signed(this.readUIntLE(at, size), size)
    }

    writeUIntBE(value: number, at: number, size: number): number {
        check(this, at, size)
        let rest = value < 0 ? value + 256 ** size : value
        for (let index = size - 1; index >= 0; index--, rest = Math.floor(rest / 256)) this[at + index] = rest % 256
        return at + size
    }

    writeUIntLE(value: number, at: number, size: number): number {
        check(this, at, size)
        let rest = value < 0 ? value + 256 ** size : value
        for (let index = 0; index < size; index++, rest = Math.floor(rest / 256)) this[at + index] = rest % 256
        return at + size
    }

    writeIntBE(value: number, at: number, size: number): number {
        return this.writeUIntBE(value, at, size)
    }

    writeIntLE(value: number, at: number, size: number): number {
        return this.writeUIntLE(value, at, size)
    }
}

/** The numbers that a `DataView` reads and writes: its name of them, that of Node.js, their size, whether they have an order. */
const NUMBERS: [string, string, number][] = [
    ['Uint8', 'UInt8', 1], ['Int8', 'Int8', 1], ['Uint16', 'UInt16', 2], ['Int16', 'Int16', 2],
    ['Uint32', 'UInt32', 4], ['Int32', 'Int32', 4], ['Float32', 'Float', 4], ['Float64', 'Double', 8],
    ['BigUint64', 'BigUInt64', 8], ['BigInt64', 'BigInt64', 8],
]

for (const [ofView, ofNode, size] of NUMBERS) {
    const orders: [string, boolean][] = size === 1 ? [['', true]] : [['LE', true], ['BE', false]]
    for (const [order, isLittle] of orders) {
        const read = function (this: Bytes, at = 0): unknown {
            check(this, at, size)
            return (viewOf(this) as any)[`get${ofView}`](at, isLittle)
        }
        const write = function (this: Bytes, value: unknown, at = 0): number {
            check(this, at, size)
            ;(viewOf(this) as any)[`set${ofView}`](at, value, isLittle)
            return at + size
        }
        for (const name of new Set([ofNode, ofNode.replace('UInt', 'Uint')])) {
            method(`read${name}${order}`, read)
            method(`write${name}${order}`, write)
        }
    }
}

for (const name of ['readUIntBE', 'readUIntLE', 'writeUIntBE', 'writeUIntLE'] as const) {
    method(name.replace('UInt', 'Uint'), Bytes.prototype[name])
}

function method(name: string, value: unknown): void {
    Object.defineProperty(Bytes.prototype, name, { value, configurable: true, writable: true, enumerable: false })
}

/** As in Node.js, it can be called without `new`, too. */
export function Buffer(value: any, second?: any, third?: any): any {
    if (typeof value === 'number') return Buffer.alloc(value)
    return Buffer.from(value, second, third)
}

Buffer.prototype = Bytes.prototype
Object.defineProperty(Bytes.prototype, 'constructor', { value: Buffer, configurable: true, writable: true, enumerable: false })

Buffer.poolSize = 8192

Buffer.alloc = (size: number, fill?: unknown, encoding?: string): any => {
    if (typeof size !== 'number' || !(size >= 0)) throw new RangeError(`a buffer cannot have ${String(size)} bytes`)
    const buffer = made(new Uint8Array(size))
    return fill === undefined || fill === 0 ? buffer : buffer.fill(fill, encoding)
}
Buffer.allocUnsafe = (size: number): any => Buffer.alloc(size)
Buffer.allocUnsafeSlow = Buffer.allocUnsafe

Buffer.from = (value: any, second?: any, third?: any): any => {
    if (typeof value === 'string') return made(encoded(value, known(second)))
    if (value instanceof ArrayBuffer || isShared(value)) return made(new Uint8Array(value, second, third))
    if (ArrayBuffer.isView(value)) return made(Uint8Array.from(value as Uint8Array))
    if (value === null || typeof value !== 'object') throw new TypeError('a buffer is made of a string, bytes or a list of numbers')
    if (value.type === 'Buffer' && Array.isArray(value.data)) return made(Uint8Array.from(value.data))
    const plain = value.valueOf?.()
    if (plain !== undefined && plain !== value) return Buffer.from(plain, second, third)
    return made(Uint8Array.from(value))
}

Buffer.of = (...bytes: number[]): any => made(Uint8Array.from(bytes))

Buffer.concat = (list: Uint8Array[], length = list.reduce((sum, it) => sum + it.length, 0)): any => {
    const whole = new Uint8Array(length)
    let at = 0
    for (const part of list) {
        whole.set(part.subarray(0, Math.max(0, length - at)), Math.min(at, length))
        at += part.length
    }
    return made(whole)
}

Buffer.byteLength = (value: any, encoding?: string): number =>
    typeof value === 'string' ? encoded(value, known(encoding)).length : value.byteLength
Buffer.compare = compare
Buffer.isBuffer = (value: unknown): boolean => value instanceof Bytes
Buffer.isEncoding = (name: unknown): boolean => typeof name === 'string' && encodingOf(name) !== undefined

// Last: what the class of arrays has is frozen, and could not be assigned over.
Object.setPrototypeOf(Buffer, Uint8Array)

/** The same bytes, as a buffer. */
function made(bytes: Uint8Array): any {
    return new Bytes(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
}

function asPlain(bytes: Uint8Array): Uint8Array {
    return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
}

function isShared(value: unknown): value is ArrayBuffer {
    return Object.prototype.toString.call(value) === '[object SharedArrayBuffer]'
}

function viewOf(bytes: Uint8Array): DataView {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function known(name: unknown): Encoding {
    if (typeof name !== 'string' || name === '') return 'utf8'
    const encoding = encodingOf(name)
    if (encoding === undefined) throw Object.assign(new TypeError(`Unknown encoding: ${name}`), { code: 'ERR_UNKNOWN_ENCODING' })
    return encoding
}

function bytesOf(value: unknown, encoding?: string): Uint8Array {
    return typeof value === 'string' ? encoded(value, known(encoding)) : (value as Uint8Array)
}

function check(bytes: Uint8Array, at: number, size: number): void {
    if (at >= 0 && at + size <= bytes.length) return
    const message = `The value of "offset" is out of range. Received ${at}`
    throw Object.assign(new RangeError(message), { code: 'ERR_OUT_OF_RANGE' })
}

function byteAt(bytes: Uint8Array, at: number): number {
    check(bytes, at, 1)
    return bytes[at] as number
}

function signed(value: number, size: number): number {
    const limit = 256 ** size
    return value >= limit / 2 ? value - limit : value
}

function compare(a: Uint8Array, b: Uint8Array): number {
    const length = Math.min(a.length, b.length)
    for (let at = 0; at < length; at++) {
        const difference = (a[at] as number) - (b[at] as number)
        if (difference !== 0) return Math.sign(difference)
    }
    return Math.sign(a.length - b.length)
}

function search(bytes: Uint8Array, part: Uint8Array, from: number, by: 1 | -1): number {
    for (let start = from; start >= 0 && start + part.length <= bytes.length; start += by) {
        let at = 0
        while (at < part.length && bytes[start + at] === part[at]) at++
        if (at === part.length) return start
    }
    return -1
}

function swapped<T extends Uint8Array>(bytes: T, size: number): T {
    if (bytes.length % size !== 0) throw new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`)
    for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse()
    return bytes
}

export const kMaxLength = 2 ** 31 - 1
export const INSPECT_MAX_BYTES = 50
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 2 ** 29 - 24 }
export const SlowBuffer = Buffer
const web = globalThis as any
export const Blob = web.Blob
export const File = web.File
export const atob = web.atob
export const btoa = web.btoa
export const isUtf8 = (bytes: Uint8Array): boolean => {
    try {
        new web.TextDecoder('utf-8', { fatal: true }).decode(bytes)
        return true
    } catch {
        return false
    }
}
export default { Buffer, SlowBuffer, Blob, File, atob, btoa, constants, isUtf8, kMaxLength, INSPECT_MAX_BYTES }
