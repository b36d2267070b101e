/**
 * `crypto.subtle`: hashes, HMAC, AES-GCM, ECDSA, Ed25519, RSA signatures, PBKDF2 and HKDF. What is done is done by native code; keys
 * are kept here, and stay in the realm.
 */
import { realm } from '../realm.ts'
import { type BufferSource, copyOf, isBufferSource } from '../web/bytes.ts'
import { fromBase64Url, fromJwk, type Jwk, ofPoint, pointOf, toBase64Url, toJwk } from './formats.ts'

type Algorithm = Record<string, any>
type KeyType = 'secret' | 'private' | 'public'

const bytesOfKeys = new WeakMap<CryptoKey, Uint8Array>()
const NAMES = [
    'SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'HMAC', 'AES-GCM', 'ECDSA', 'Ed25519', 'RSASSA-PKCS1-v1_5', 'RSA-PSS', 'PBKDF2', 'HKDF',
]
const BLOCKS: Record<string, number> = { 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 }

export class CryptoKey {
    constructor(
        readonly type: KeyType,
        readonly extractable: boolean,
        readonly algorithm: Algorithm,
        readonly usages: readonly string[],
    ) {
        if (making !== 1) throw new TypeError('Illegal constructor')
    }

    get [Symbol.toStringTag](): string {
        return 'CryptoKey'
    }
}
let making = 0

function keyOf(type: KeyType, extractable: boolean, algorithm: Algorithm, usages: readonly string[], bytes: Uint8Array): CryptoKey {
    making = 1
    const key = new CryptoKey(type, type === 'public' || extractable, algorithm, [...usages])
    making = 0
    bytesOfKeys.set(key, bytes)
    return key
}

function failure(message: string, name: string): Error {
    return new (globalThis as any).DOMException(message, name)
}

/** An algorithm with the names as the standard writes them. */
function normal(given: any): Algorithm {
    const algorithm = typeof given === 'string' ? { name: given } : { ...given }
    const name = NAMES.find((it) => it.toLowerCase() === String(algorithm.name).toLowerCase())
    if (name === undefined) {
        throw failure(`'${String(algorithm.name)}' is not here; there are ${NAMES.join(', ')}`, 'NotSupportedError')
    }
    const hash = algorithm.hash === undefined ? undefined : { name: normal(algorithm.hash).name }
    return { ...algorithm, name, ...(hash === undefined ? {} : { hash }) }
}

function bytes(source: unknown): Uint8Array {
    if (!isBufferSource(source)) throw new TypeError('bytes are an ArrayBuffer or a view of one')
    return copyOf(source as BufferSource)
}

/** What native code calls it. */
function kindOf(algorithm: Algorithm): string {
    return algorithm.name === 'ECDSA' ? algorithm.namedCurve : algorithm.name
}

function native(what: string, kind: string, hash: string, given: Uint8Array[]): Uint8Array {
    try {
        return realm().native.subtle(what, kind, hash, given)
    } catch (error) {
        throw failure((error as Error).message, 'OperationError')
    }
}

function number(value: number): Uint8Array {
    const four = new Uint8Array(4)
    new DataView(four.buffer).setUint32(0, value)
    return four
}

function usable(key: CryptoKey, algorithm: Algorithm, usage: string): Uint8Array {
    const found = bytesOfKeys.get(key)
    if (found === undefined) throw new TypeError('this is no CryptoKey')
    if (key.algorithm.name !== algorithm.name) throw failure(`the key is for ${key.algorithm.name}`, 'InvalidAccessError')
    if (!key.usages.includes(usage)) throw failure(`the key is not for '${usage}'`, 'InvalidAccessError')
    return found
}

/** The hash of a signature: that of the key, or of the call. */
function hashOf(key: CryptoKey, algorithm: Algorithm): string {
    return key.algorithm.hash?.name ?? algorithm.hash?.name ?? ''
}

function checkSalt(key: CryptoKey, algorithm: Algorithm): void {
    if (algorithm.name !== 'RSA-PSS') return
    const expected = { 'SHA-256': 32, 'SHA-384': 48, 'SHA-512': 64 }[hashOf(key, algorithm)]
    if (algorithm.saltLength !== expected) throw failure('the salt of RSA-PSS is as long as the hash', 'NotSupportedError')
}

async function digest(given: unknown, data: unknown): Promise<ArrayBuffer> {
    return buffer(native('digest', '', normal(given).name, [bytes(data)]))
}

function buffer(array: Uint8Array): ArrayBuffer {
    return array.buffer.byteLength === array.byteLength ? (array.buffer as ArrayBuffer) : (array.slice().buffer as ArrayBuffer)
}

async function sign(given: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const algorithm = normal(given)
    const secret = usable(key, algorithm, 'sign')
    checkSalt(key, algorithm)
    const what = algorithm.name === 'HMAC' ? 'mac' : 'sign'
    return buffer(native(what, kindOf(key.algorithm), hashOf(key, algorithm), [secret, bytes(data)]))
}

async function verify(given: unknown, key: CryptoKey, signed: unknown, data: unknown): Promise<boolean> {
    const algorithm = normal(given)
    const known = usable(key, algorithm, 'verify')
    checkSalt(key, algorithm)
    if (algorithm.name !== 'HMAC') {
        return native('verify', kindOf(key.algorithm), hashOf(key, algorithm), [known, bytes(signed), bytes(data)])[0] === 1
    }
    const expected = native('mac', '', hashOf(key, algorithm), [known, bytes(data)])
    const found = bytes(signed)
    let difference = expected.length ^ found.length
    for (let at = 0; at < expected.length; at++) difference |= (expected[at] as number) ^ (found[at] ?? 0)
    return difference === 0
}

async function encrypt(given: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return crypt('seal', 'encrypt', given, key, data)
}

async function decrypt(given: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return crypt('open', 'decrypt', given, key, data)
}

function crypt(what: string, usage: string, given: unknown, key: CryptoKey, data: unknown): ArrayBuffer {
    const algorithm = normal(given)
    const secret = usable(key, algorithm, usage)
    const { iv, additionalData, tagLength = 128 } = algorithm
    if (bytes(iv).length !== 12 || tagLength !== 128) {
        throw failure('AES-GCM takes an iv of 12 bytes and a tag of 128 bits', 'NotSupportedError')
    }
    const more = additionalData === undefined ? new Uint8Array(0) : bytes(additionalData)
    return buffer(native(what, '', '', [secret, bytes(iv), more, bytes(data)]))
}

async function generateKey(given: unknown, extractable: boolean, usages: string[]): Promise<unknown> {
    const { name, ...rest } = normal(given)
    const algorithm: Algorithm = { name, ...rest }
    if (name === 'HMAC' || name === 'AES-GCM') {
        const length = algorithm.length ?? 8 * (BLOCKS[algorithm.hash?.name] ?? 0)
        if (name === 'AES-GCM' && length !== 128 && length !== 256) throw failure('AES-GCM has keys of 128 or 256 bits', 'OperationError')
        return keyOf('secret', extractable, { ...algorithm, length }, usages, realm().native.random(length / 8))
    }
    const secret = native('generate', kindOf(algorithm), name.startsWith('RSA') ? String(algorithm.modulusLength) : '', [])
    const spki = native('public', kindOf(algorithm), '', [secret])
    const only = (...names: string[]) => usages.filter((usage) => names.includes(usage))
    return {
        privateKey: keyOf('private', extractable, algorithm, only('sign'), secret),
        publicKey: keyOf('public', true, algorithm, only('verify'), spki),
    }
}

async function importKey(format: string, data: any, given: unknown, extractable: boolean, usages: string[]): Promise<CryptoKey> {
    const algorithm = normal(given)
    const { name } = algorithm
    if (['HMAC', 'AES-GCM', 'PBKDF2', 'HKDF'].includes(name)) {
        if (format !== 'raw' && format !== 'jwk') throw failure(`a key of ${name} is 'raw' or 'jwk'`, 'NotSupportedError')
        const secret = format === 'jwk' ? fromBase64Url(data.k) : bytes(data)
        if (name === 'AES-GCM' && secret.length !== 16 && secret.length !== 32) throw failure('a key of AES-GCM has 16 or 32 bytes', 'DataError')
        return keyOf('secret', extractable, { ...algorithm, length: 8 * secret.length }, usages, secret)
    }
    const type = format === 'pkcs8' || (format === 'jwk' && data.d !== undefined) ? 'private' : 'public'
    return keyOf(type, extractable, algorithm, usages, checked(type, algorithm, known(format, data, algorithm)))
}

function known(format: string, data: any, algorithm: Algorithm): Uint8Array {
    try {
        if (format === 'jwk') return fromJwk(kindOf(algorithm), data as Jwk)
        if (format === 'raw') return ofPoint(kindOf(algorithm), bytes(data))
    } catch (error) {
        throw failure((error as Error).message, 'DataError')
    }
    return bytes(data)
}

/** A private key is read now, so that a wrong one is told where it is imported. */
function checked(type: KeyType, algorithm: Algorithm, key: Uint8Array): Uint8Array {
    try {
        if (type === 'private') realm().native.subtle('public', kindOf(algorithm), '', [key])
        return key
    } catch {
        throw failure(`this is no key of ${kindOf(algorithm)}`, 'DataError')
    }
}

async function exportKey(format: string, key: CryptoKey): Promise<unknown> {
    const found = bytesOfKeys.get(key)
    if (found === undefined) throw new TypeError('this is no CryptoKey')
    if (!key.extractable) throw failure('the key is not extractable', 'InvalidAccessError')
    const kind = kindOf(key.algorithm)
    if (format === 'jwk') {
        const jwk = key.type === 'secret' ? { kty: 'oct', k: toBase64Url(found) } : toJwk(kind, key.type === 'private', found)
        return { ...jwk, key_ops: [...key.usages], ext: true }
    }
    const isRight = format === { secret: 'raw', private: 'pkcs8', public: 'spki' }[key.type]
    if (isRight) return buffer(found.slice())
    if (format === 'raw' && key.type === 'public' && !kind.startsWith('RSA')) return buffer(pointOf(kind, found))
    throw failure(`a ${key.type} key cannot be '${format}'`, 'InvalidAccessError')
}

async function deriveBits(given: unknown, key: CryptoKey, length: number): Promise<ArrayBuffer> {
    return derived(normal(given), key, length, 'deriveBits')
}

function derived(algorithm: Algorithm, key: CryptoKey, length: number, usage: string): ArrayBuffer {
    const secret = usable(key, algorithm, usage)
    const hash = algorithm.hash?.name ?? ''
    const size = number(length / 8)
    const given = algorithm.name === 'HKDF'
        ? [secret, bytes(algorithm.salt), bytes(algorithm.info), size]
        : [secret, bytes(algorithm.salt), number(algorithm.iterations), size]
    return buffer(native(algorithm.name.toLowerCase(), '', hash, given))
}

async function deriveKey(given: unknown, key: CryptoKey, wanted: unknown, extractable: boolean, usages: string[]): Promise<CryptoKey> {
    const target = normal(wanted)
    const length = target.length ?? 8 * (BLOCKS[target.hash?.name] ?? 0)
    return importKey('raw', derived(normal(given), key, length, 'deriveKey'), target, extractable, usages)
}

export const subtle = { decrypt, deriveBits, deriveKey, digest, encrypt, exportKey, generateKey, importKey, sign, verify }
