import { describe, expect, test } from 'rival/test'

describe('TextEncoder and TextDecoder', () => {
    test('go there and back', () => {
        const text = 'aé€😀'
        const bytes = new TextEncoder().encode(text)
        expect([...bytes]).toEqual([97, 195, 169, 226, 130, 172, 240, 159, 152, 128])
        expect(new TextDecoder().decode(bytes)).toBe(text)
        expect(new TextDecoder().decode(bytes.buffer)).toBe(text)
        expect(new TextDecoder('utf-16').decode(new Uint8Array([97, 0, 61, 216, 0, 222]))).toBe('a😀')
        expect(new TextDecoder('latin1').decode(new Uint8Array([0x80, 0xe9]))).toBe('€é')
        expect(new TextDecoder(' UTF8 ').encoding).toBe('utf-8')
        expect(() => new TextDecoder('klingon')).toThrow(RangeError)
    })

    test('replace or refuse what is wrong', () => {
        const wrong = new Uint8Array([97, 255])
        expect(new TextDecoder().decode(wrong)).toBe('a\ufffd')
        expect(() => new TextDecoder('utf-8', { fatal: true }).decode(wrong)).toThrow(TypeError)
        expect([...new TextEncoder().encode('\ud800')]).toEqual([239, 191, 189])
    })

    test('take text in pieces', () => {
        const bytes = new TextEncoder().encode('x€😀y')
        const decoder = new TextDecoder()
        let text = ''
        for (const byte of bytes) text += decoder.decode(Uint8Array.of(byte), { stream: true })
        expect(text + decoder.decode()).toBe('x€😀y')
    })

    test('leave out the byte order mark', () => {
        const bytes = new Uint8Array([239, 187, 191, 97])
        expect(new TextDecoder().decode(bytes)).toBe('a')
        expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).toBe('\ufeffa')
    })

    test('encode into an array as far as it reaches', () => {
        const into = new Uint8Array(5)
        expect(new TextEncoder().encodeInto('a€€', into)).toEqual({ read: 2, written: 4 })
        expect([...into]).toEqual([97, 226, 130, 172, 0])
    })
})

describe('base64', () => {
    test('goes there and back', () => {
        for (const [plain, coded] of [['', ''], ['f', 'Zg=='], ['fo', 'Zm8='], ['foo', 'Zm9v'], ['\xff\x00', '/wA=']]) {
            expect(btoa(plain)).toBe(coded)
            expect(atob(coded)).toBe(plain)
        }
        expect(atob(' Zm 9v\n')).toBe('foo')
        expect(atob('Zg')).toBe('f')
    })

    test('refuses what it cannot do', () => {
        expect(() => btoa('€')).toThrow(DOMException)
        for (const wrong of ['Z', 'Zm9=v', 'Zg=', '*']) expect(() => atob(wrong)).toThrow({ name: 'InvalidCharacterError' })
    })
})

describe('crypto', () => {
    test('gives random ids and bytes', () => {
        expect(crypto.randomUUID()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
        expect(crypto.randomUUID()).not.toBe(crypto.randomUUID())
        const array = new Uint32Array(64)
        expect(crypto.getRandomValues(array)).toBe(array)
        expect(new Set(array).size).toBeGreaterThan(32)
        const part = new Uint8Array(new ArrayBuffer(40), 8, 16)
        crypto.getRandomValues(part)
        expect(new Uint8Array(part.buffer, 0, 8).every((byte) => byte === 0)).toBe(true)
        expect(() => crypto.getRandomValues(new Float64Array(1))).toThrow({ name: 'TypeMismatchError' })
        expect(() => crypto.getRandomValues(new Uint8Array(65_537))).toThrow({ name: 'QuotaExceededError' })
    })
})

describe('the environment', () => {
    test('shows what is allowed', () => {
        expect(process.env.GREETING).toBe('hello')
        expect(process.env.HOME).toBeUndefined()
        expect(Object.keys(process)).toEqual(['env'])
        expect(performance.now()).toBeGreaterThan(0)
        expect(Math.abs(performance.timeOrigin + performance.now() - Date.now())).toBeLessThan(60_000)
        expect(globalThis.globalThis).toBe(globalThis)
        expect(Object.keys(globalThis)).toEqual([])
    })
})
