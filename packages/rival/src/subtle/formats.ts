/** Keys as they come and go: raw, PKCS #8, SubjectPublicKeyInfo, JSON Web Key. */
import { realm } from '../realm.ts'
import { concat } from '../web/bytes.ts'
import { integer, integers, read, SEQUENCE, written } from './der.ts'

const CURVES: Record<string, { jwk: string; size: number; prefix: string }> = {
    'P-256': { jwk: 'P-256', size: 32, prefix: '3059301306072a8648ce3d020106082a8648ce3d030107034200' },
    'P-384': { jwk: 'P-384', size: 48, prefix: '3076301006072a8648ce3d020106052b81040022036200' },
    'P-521': { jwk: 'P-521', size: 66, prefix: '30819b301006072a8648ce3d020106052b8104002303818600' },
    Ed25519: { jwk: 'Ed25519', size: 32, prefix: '302a300506032b6570032100' },
}
/** `rsaEncryption`, without parameters. */
const RSA = hex('300d06092a864886f70d0101010500')
const RSA_NAMES = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi']

export type Jwk = Record<string, any>

function hex(text: string): Uint8Array {
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

export function toBase64Url(bytes: Uint8Array): string {
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
    return (globalThis as any).btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export function fromBase64Url(text: string): Uint8Array {
    const plain = (globalThis as any).atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(plain, (char: string) => char.charCodeAt(0))
}

/** The public key of a point on a curve. */
export function ofPoint(kind: string, point: Uint8Array): Uint8Array {
    const { size, prefix } = CURVES[kind] as (typeof CURVES)[string]
    if (point.length !== (kind === 'Ed25519' ? size : 2 * size + 1)) throw new TypeError(`this is no public key of ${kind}`)
    return concat([hex(prefix), point])
}

export function pointOf(kind: string, spki: Uint8Array): Uint8Array {
    const { size } = CURVES[kind] as (typeof CURVES)[string]
    return spki.slice(spki.length - (kind === 'Ed25519' ? size : 2 * size + 1))
}

/** What native code takes for the key: PKCS #8 or SubjectPublicKeyInfo. */
export function fromJwk(kind: string, jwk: Jwk): Uint8Array {
    const part = (name: string) => fromBase64Url(String(jwk[name]))
    if (kind in CURVES) {
        if (jwk.crv !== (CURVES[kind] as { jwk: string }).jwk) throw new TypeError(`the key is not one of ${kind}`)
        const point = kind === 'Ed25519' ? part('x') : concat([Uint8Array.of(4), part('x'), part('y')])
        return jwk.d === undefined ? ofPoint(kind, point) : realm().native.subtle('private', kind, '', [part('d'), point])
    }
    if (jwk.kty !== 'RSA') throw new TypeError('the key is not one of RSA')
    if (jwk.d === undefined) return spkiOfRsa(part('n'), part('e'))
    const zero = integer(Uint8Array.of(0))
    const inner = written(SEQUENCE, zero, ...RSA_NAMES.map((name) => integer(part(name))))
    return written(SEQUENCE, zero, RSA, written(0x04, inner))
}

function spkiOfRsa(n: Uint8Array, e: Uint8Array): Uint8Array {
    const key = written(SEQUENCE, integer(n), integer(e))
    return written(SEQUENCE, RSA, written(0x03, Uint8Array.of(0), key))
}

export function toJwk(kind: string, isPrivate: boolean, bytes: Uint8Array): Jwk {
    if (kind in CURVES) {
        const { native } = realm()
        const point = pointOf(kind, isPrivate ? native.subtle('public', kind, '', [bytes]) : bytes)
        const secret = isPrivate ? { d: toBase64Url(native.subtle('scalar', kind, '', [bytes])) } : {}
        if (kind === 'Ed25519') return { kty: 'OKP', crv: kind, x: toBase64Url(point), ...secret }
        const { size } = CURVES[kind] as { size: number }
        const [x, y] = [point.slice(1, 1 + size), point.slice(1 + size)]
        return { kty: 'EC', crv: kind, x: toBase64Url(x), y: toBase64Url(y), ...secret }
    }
    return { kty: 'RSA', ...numbersOfRsa(isPrivate, bytes) }
}

function numbersOfRsa(isPrivate: boolean, bytes: Uint8Array): Jwk {
    const outer = read((read(bytes)[0] as { body: Uint8Array }).body)
    const wrapped = outer[isPrivate ? 2 : 1] as { body: Uint8Array }
    const inner = read(isPrivate ? wrapped.body : wrapped.body.subarray(1))[0] as { body: Uint8Array }
    // A private key begins with the version.
    const numbers = integers(inner.body).slice(isPrivate ? 1 : 0)
    return Object.fromEntries(numbers.map((number, at) => [RSA_NAMES[at], toBase64Url(number)]))
}
