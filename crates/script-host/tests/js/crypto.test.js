import { expect, test } from 'rival/test'

const { subtle } = crypto
const bytes = (text) => new TextEncoder().encode(text)
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16))

test('digests', async () => {
    expect(hex(await subtle.digest('SHA-1', bytes('abc')))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d')
    expect(hex(await subtle.digest({ name: 'sha-256' }, bytes('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(hex(await subtle.digest('SHA-512', bytes(''))).slice(0, 16)).toBe('cf83e1357eefb8bd')
})

test('what is not here is named', async () => {
    const error = await subtle.digest('MD5', bytes('')).catch((it) => it)
    expect([error.name, error.message.includes('SHA-256')]).toEqual(['NotSupportedError', true])
})

test('hmac, by RFC 4231', async () => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await subtle.importKey('raw', bytes('Jefe'), algorithm, true, ['sign', 'verify'])
    const signed = await subtle.sign('HMAC', key, bytes('what do ya want for nothing?'))
    expect(hex(signed)).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
    expect(await subtle.verify('HMAC', key, signed, bytes('what do ya want for nothing?'))).toBe(true)
    expect(await subtle.verify('HMAC', key, signed, bytes('something else'))).toBe(false)
    expect((await subtle.exportKey('jwk', key)).k).toBe('SmVmZQ')
    const other = await subtle.importKey('raw', bytes('Jefe'), algorithm, false, ['verify'])
    expect((await subtle.sign('HMAC', other, bytes('')).catch((it) => it)).name).toBe('InvalidAccessError')
    expect((await subtle.exportKey('raw', other).catch((it) => it)).name).toBe('InvalidAccessError')
})

test('AES-GCM, by the test case of its authors, and what was changed is refused', async () => {
    const key = await subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', false, ['encrypt', 'decrypt'])
    const given = { name: 'AES-GCM', iv: new Uint8Array(12) }
    const sealed = new Uint8Array(await subtle.encrypt(given, key, new Uint8Array(16)))
    expect(hex(sealed)).toBe('0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf')
    expect(hex(await subtle.decrypt(given, key, sealed))).toBe('00'.repeat(16))
    sealed[0] ^= 1
    expect((await subtle.decrypt(given, key, sealed).catch((it) => it)).name).toBe('OperationError')
})

const SIGNATURES = [
    [{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }],
    [{ name: 'ECDSA', namedCurve: 'P-384' }, { name: 'ECDSA', hash: 'SHA-384' }],
    [{ name: 'ECDSA', namedCurve: 'P-521' }, { name: 'ECDSA', hash: 'SHA-512' }],
    [{ name: 'Ed25519' }, 'Ed25519'],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, 'RSASSA-PKCS1-v1_5'],
    [{ name: 'RSA-PSS', hash: 'SHA-512', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, { name: 'RSA-PSS', saltLength: 64 }],
]

for (const [algorithm, how] of SIGNATURES) {
    test(`signatures of ${algorithm.name} ${algorithm.namedCurve ?? ''}, with keys that went out and came back`, async () => {
        const { privateKey, publicKey } = await subtle.generateKey(algorithm, true, ['sign', 'verify'])
        const copies = async (key, formats) => Promise.all(formats.map(async (format) =>
            subtle.importKey(format, await subtle.exportKey(format, key), algorithm, true, [...key.usages])))
        const signers = [privateKey, ...(await copies(privateKey, ['pkcs8', 'jwk']))]
        const raw = algorithm.name.startsWith('RSA') ? [] : ['raw']
        const judges = [publicKey, ...(await copies(publicKey, ['spki', 'jwk', ...raw]))]
        for (const signer of signers) {
            const signed = await subtle.sign(how, signer, bytes('a'))
            for (const judge of judges) {
                expect(await subtle.verify(how, judge, signed, bytes('a'))).toBe(true)
                expect(await subtle.verify(how, judge, signed, bytes('b'))).toBe(false)
            }
        }
    })
}

test('Ed25519, by RFC 8032', async () => {
    const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
    const key = await subtle.importKey('pkcs8', unhex(`302e020100300506032b657004220420${seed}`), 'Ed25519', false, ['sign'])
    expect(hex(await subtle.sign('Ed25519', key, bytes(''))).slice(0, 32)).toBe('e5564300c360ac729086e2cc806e828a')
})

test('keys that are made of secrets', async () => {
    const password = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits'])
    const bits = await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: bytes('salt'), iterations: 2 }, password, 160)
    expect(hex(bits)).toBe('ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957')
    const secret = await subtle.importKey('raw', unhex('0b'.repeat(22)), 'HKDF', false, ['deriveBits'])
    const salt = unhex('000102030405060708090a0b0c')
    const info = unhex('f0f1f2f3f4f5f6f7f8f9')
    const more = await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, secret, 336)
    expect(hex(more).slice(0, 20)).toBe('3cb25f25faacd57a9043')
})

test('a wrong key is told where it is imported', async () => {
    const error = await subtle.importKey('pkcs8', bytes('no'), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']).catch((it) => it)
    expect(error.name).toBe('DataError')
    expect(() => new CryptoKey()).toThrow('Illegal constructor')
})
