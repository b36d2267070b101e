import { describe, expect, test } from 'rival/test'

const fails = (check) => {
    try {
        check()
    } catch (error) {
        return error.message
    }
    throw new Error('it should have failed')
}

describe('expect', () => {
    test('compares', () => {
        expect(NaN).toBe(NaN)
        expect({ a: [1, { b: 2 }], c: undefined }).toEqual({ a: [1, { b: 2 }] })
        expect(new Map([[1, { a: 1 }]])).toEqual(new Map([[1, { a: 1 }]]))
        expect(new Date(1)).not.toEqual(new Date(2))
        expect({ a: 1, b: { c: 2, d: 3 } }).toMatchObject({ b: { c: 2 } })
        expect([1, 2]).toContain(2)
        expect('abc').toContain('bc')
        expect(0.1 + 0.2).toBeCloseTo(0.3)
        expect([1]).toHaveLength(1)
        expect('oak-7').toMatch(/^oak-\d$/)
        expect(null).toBeNull()
        expect([undefined, 0, 1].map(Boolean)).toEqual([false, false, true])
        expect(undefined).not.toBeDefined()
        expect(3).toBeLessThanOrEqual(3)
        expect(0).toBeFalsy()
    })

    test('says what is wrong, and where', () => {
        expect(fails(() => expect({ a: { b: [1, 2] } }).toEqual({ a: { b: [1, 3] } }))).toBe(
            'expect(..).toEqual(..) failed\n  expected: { a: { b: [ 1, 3 ] } }\n  received: { a: { b: [ 1, 2 ] } }\n  they differ at a.b[1]',
        )
        expect(fails(() => expect(1).not.toBe(1))).toBe('expect(..).not.toBe(..) failed\n  expected: not 1\n  received: 1')
        expect(fails(() => expect([1]).toEqual([1, 2]))).toContain('they differ at length')
        expect(fails(() => expect(() => 1).toThrow())).toContain('it threw nothing')
        expect(fails(() => expect({ a: 1 }).toMatchObject({ a: 2 }))).toContain('they differ at a')
        expect(fails(() => expect('x').toEqual({}))).toContain("received: 'x'")
    })

    test('waits for promises', async () => {
        await expect(Promise.resolve(1)).resolves.toBe(1)
        await expect(Promise.reject(new TypeError('no'))).rejects.toThrow(TypeError)
        await expect(Promise.reject(new TypeError('no'))).rejects.toMatchObject({ message: 'no' })
        await expect(Promise.reject(new Error('no'))).rejects.not.toThrow('yes')
        await expect(expect(Promise.resolve(1)).rejects.toThrow()).rejects.toThrow('it was not rejected')
    })
})
