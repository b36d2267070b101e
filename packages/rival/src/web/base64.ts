/** `atob` and `btoa`. */
import { DOMException } from './dom_exception.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

export function btoa(given: unknown): string {
    const text = String(given)
    let out = ''
    for (let at = 0; at < text.length; at += 3) {
        const codes = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
        if (codes.some((code) => code > 255)) {
            throw new DOMException('The text has characters outside of the Latin1 range', 'InvalidCharacterError')
        }
        const [a = 0, b = Number.NaN, c = Number.NaN] = codes
        const bits = (a << 16) | (b << 8) | c
        out += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63)
        out += Number.isNaN(b) ? '=' : ALPHABET.charAt((bits >> 6) & 63)
        out += Number.isNaN(c) ? '=' : ALPHABET.charAt(bits & 63)
    }
    return out
}

export function atob(given: unknown): string {
    let text = String(given).replace(/[\t\n\f\r ]/g, '')
    if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '')
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) {
        throw new DOMException('The text is not base64', 'InvalidCharacterError')
    }
    let out = ''
    let bits = 0
    let count = 0
    for (const char of text) {
        bits = ((bits << 6) | ALPHABET.indexOf(char)) & 0xffffff
        count += 6
        if (count >= 8) {
            count -= 8
            out += String.fromCharCode((bits >> count) & 255)
        }
    }
    return out
}
