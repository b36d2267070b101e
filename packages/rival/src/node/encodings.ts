/** The encodings of `Buffer`. */
import { realm } from '../realm.ts'

export type Encoding = 'utf8' | 'hex' | 'base64' | 'base64url' | 'latin1' | 'ascii' | 'utf16le'

const NAMES: Record<string, Encoding> = {
    utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1',
    ascii: 'ascii', utf16le: 'utf16le', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le',
}
const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const FOR_URLS = `${STANDARD.slice(0, 62)}-_`
/** Strings are put together of so many codes at a time. */
const PIECE = 4096

export function encodingOf(name: string): Encoding | undefined {
    return NAMES[name.toLowerCase()]
}

export function encoded(text: string, encoding: Encoding): Uint8Array {
    switch (encoding) {
        case 'utf8':
            return realm().native.encode(text)
        case 'hex':
            return fromHex(text)
        case 'base64':
        case 'base64url':
            return fromBase64(text)
        case 'utf16le':
            return fromUnits(text)
        default:
            return Uint8Array.from(text, (char) => char.charCodeAt(0))
    }
}

export function decoded(bytes: Uint8Array, encoding: Encoding): string {
    switch (encoding) {
        case 'utf8':
            return realm().native.decode(new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength), 'utf-8', false)
        case 'hex':
            return Array.from(bytes, (byte) => (byte < 16 ? '0' : '') + byte.toString(16)).join('')
        case 'base64':
            return toBase64(bytes, STANDARD, true)
        case 'base64url':
            return toBase64(bytes, FOR_URLS, false)
        case 'utf16le':
            return ofCodes(bytes.length >> 1, (at) => (bytes[2 * at] as number) | ((bytes[2 * at + 1] as number) << 8))
        case 'ascii':
            return ofCodes(bytes.length, (at) => (bytes[at] as number) & 127)
        default:
            return ofCodes(bytes.length, (at) => bytes[at] as number)
    }
}

function ofCodes(length: number, code: (at: number) => number): string {
    let text = ''
    for (let start = 0; start < length; start += PIECE) {
        const codes = Array.from({ length: Math.min(PIECE, length - start) }, (_, at) => code(start + at))
        text += String.fromCharCode(...codes)
    }
    return text
}

/** Up to what is no digit. */
function fromHex(text: string): Uint8Array {
    const bytes = new Uint8Array(text.length >> 1)
    for (let at = 0; at < bytes.length; at++) {
        const pair = text.slice(2 * at, 2 * at + 2)
        if (!/^[0-9a-f]{2}$/i.test(pair)) return bytes.slice(0, at)
        bytes[at] = Number.parseInt(pair, 16)
    }
    return bytes
}

let values: Uint8Array | undefined

/** Both alphabets; what belongs to neither is left out. */
function fromBase64(text: string): Uint8Array {
    if (values === undefined) {
        values = new Uint8Array(128).fill(255)
        for (const alphabet of [STANDARD, FOR_URLS]) for (let at = 0; at < 64; at++) values[alphabet.charCodeAt(at)] = at
    }
    const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4))
    let [length, bits, count] = [0, 0, 0]
    for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (code === 61) break
        const value = code < 128 ? (values[code] as number) : 255
        if (value === 255) continue
        bits = ((bits << 6) | value) & 0xffffff
        count += 6
        if (count < 8) continue
        count -= 8
        bytes[length++] = bits >> count
    }
    return bytes.slice(0, length)
}

function toBase64(bytes: Uint8Array, alphabet: string, isPadded: boolean): string {
    const parts: string[] = []
    for (let at = 0; at < bytes.length; at += 3) {
        const left = bytes.length - at
        const bits = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
        const third = left > 1 ? alphabet.charAt((bits >> 6) & 63) : isPadded ? '=' : ''
        const fourth = left > 2 ? alphabet.charAt(bits & 63) : isPadded ? '=' : ''
        parts.push(alphabet.charAt(bits >> 18) + alphabet.charAt((bits >> 12) & 63) + third + fourth)
    }
    return parts.join('')
}

function fromUnits(text: string): Uint8Array {
    const bytes = new Uint8Array(2 * text.length)
    for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        bytes[2 * at] = unit & 255
        bytes[2 * at + 1] = unit >> 8
    }
    return bytes
}
