import { describe, expect, test } from 'rival/test'

describe('structuredClone', () => {
    test('copies all kinds of data', () => {
        const value = {
            text: 'a', none: null, nothing: undefined, big: 10n, list: [1, , 3], date: new Date(7), pattern: /a+/gi,
            map: new Map([[{ key: 1 }, new Set([1, 2])]]), boxed: Object('x'),
            bytes: new Uint8Array([1, 2, 3]).subarray(1), buffer: new ArrayBuffer(4), view: new DataView(new ArrayBuffer(8), 2, 4),
        }
        const copy = structuredClone(value)
        expect(copy).toEqual(value)
        expect(1 in copy.list).toBe(false)
        for (const key of ['list', 'date', 'pattern', 'map', 'bytes', 'buffer', 'view']) expect(copy[key]).not.toBe(value[key])
        expect([...copy.bytes]).toEqual([2, 3])
        expect([copy.view.byteOffset, copy.view.byteLength]).toEqual([2, 4])
        expect(copy.map.keys().next().value).not.toBe(value.map.keys().next().value)
    })

    test('keeps what is the same the same', () => {
        const inner = { n: 1 }
        const value = { a: inner, b: inner, bytes: new Uint8Array(2) }
        value.self = value
        value.other = new Uint16Array(value.bytes.buffer)
        const copy = structuredClone(value)
        expect(copy.a).toBe(copy.b)
        expect(copy.self).toBe(copy)
        expect(copy.other.buffer).toBe(copy.bytes.buffer)
        const round = new Map()
        round.set('me', round)
        const set = new Set()
        set.add(set)
        expect(structuredClone(round).get('me')).not.toBe(round)
        expect([...structuredClone(set)][0]).not.toBe(set)
    })

    test('copies errors', () => {
        const error = new RangeError('far', { cause: new TypeError('odd') })
        const copy = structuredClone(error)
        expect(copy).toBeInstanceOf(RangeError)
        expect(copy.message).toBe('far')
        expect(copy.stack).toBe(error.stack)
        expect(copy.cause).toBeInstanceOf(TypeError)
    })

    test('forgets classes and getters', () => {
        class Point { x = 1; get y() { return 2 } }
        const copy = structuredClone(new Point())
        expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
        expect(copy).toEqual({ x: 1 })
        expect(structuredClone({ get z() { return 3 } })).toEqual({ z: 3 })
    })

    test('refuses what is not data', () => {
        for (const wrong of [() => 1, Symbol('x'), { f() {} }, [Promise.resolve()], new WeakMap()]) {
            expect(() => structuredClone(wrong)).toThrow({ name: 'DataCloneError' })
        }
    })
})
