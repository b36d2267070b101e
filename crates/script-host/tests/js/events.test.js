import { describe, expect, test } from 'rival/test'

describe('EventTarget', () => {
    test('tells listeners in order', () => {
        const target = new EventTarget()
        const told = []
        const first = (event) => told.push(['first', event.type, event.target === target])
        target.addEventListener('x', first)
        target.addEventListener('x', first)
        target.addEventListener('x', { handleEvent: () => told.push(['object']) })
        target.addEventListener('x', () => told.push(['once']), { once: true })
        target.dispatchEvent(new Event('x'))
        target.removeEventListener('x', first)
        target.dispatchEvent(new CustomEvent('x', { detail: 5 }))
        target.dispatchEvent(new Event('y'))
        expect(told).toEqual([['first', 'x', true], ['object'], ['once'], ['object']])
    })

    test('can be stopped', () => {
        const target = new EventTarget()
        const told = []
        target.addEventListener('x', (event) => { told.push(1); event.preventDefault(); event.stopImmediatePropagation() })
        target.addEventListener('x', () => told.push(2))
        expect(target.dispatchEvent(new Event('x', { cancelable: true }))).toBe(false)
        expect(target.dispatchEvent(new Event('x'))).toBe(true)
        expect(told).toEqual([1, 1])
        const controller = new AbortController()
        target.addEventListener('z', () => told.push(3), { signal: controller.signal })
        controller.abort()
        target.dispatchEvent(new Event('z'))
        expect(told.length).toBe(2)
    })
})

describe('AbortSignal', () => {
    test('is aborted once', () => {
        const controller = new AbortController()
        const { signal } = controller
        const told = []
        signal.onabort = () => told.push('on')
        signal.addEventListener('abort', (event) => told.push(event.type))
        signal.throwIfAborted()
        expect(signal.aborted).toBe(false)
        controller.abort('why')
        controller.abort('again')
        expect(signal.reason).toBe('why')
        expect(told).toEqual(['on', 'abort'])
        expect(() => signal.throwIfAborted()).toThrow()
        expect(() => new AbortSignal()).toThrow('Illegal constructor')
    })

    test('has an AbortError as its reason', () => {
        const { reason } = AbortSignal.abort()
        expect(reason).toBeInstanceOf(DOMException)
        expect(reason).toBeInstanceOf(Error)
        expect([reason.name, reason.code]).toEqual(['AbortError', 20])
    })

    test('can be timed', async () => {
        const signal = AbortSignal.timeout(1)
        await new Promise((ok) => signal.addEventListener('abort', ok))
        expect(signal.reason.name).toBe('TimeoutError')
    })

    test('follows any of several', () => {
        const [a, b] = [new AbortController(), new AbortController()]
        const either = AbortSignal.any([a.signal, b.signal])
        const deep = AbortSignal.any([either])
        b.abort('b')
        a.abort('a')
        expect([either.reason, deep.reason]).toEqual(['b', 'b'])
        expect(AbortSignal.any([a.signal]).aborted).toBe(true)
        expect(AbortSignal.any([]).aborted).toBe(false)
    })
})

describe('timers', () => {
    test('fire in order, with arguments', async () => {
        const told = []
        await new Promise((ok) => {
            setTimeout((...args) => { told.push(args); ok() }, 100, 'late', 1)
            setTimeout(() => told.push('early'), 1)
            setImmediate((word) => told.push(word), 'now')
            queueMicrotask(() => told.push('micro'))
            told.push('sync')
        })
        expect(told).toEqual(['sync', 'micro', 'now', 'early', ['late', 1]])
    })

    test('can be cleared, by object or number', async () => {
        const told = []
        clearTimeout(setTimeout(() => told.push('a'), 1))
        clearTimeout(+setTimeout(() => told.push('b'), 1))
        clearImmediate(setImmediate(() => told.push('c')))
        for (const nonsense of [undefined, null, {}, 'x', -1]) clearTimeout(nonsense)
        await new Promise((ok) => setTimeout(ok, 5))
        expect(told).toEqual([])
    })

    test('repeat until they are cleared', async () => {
        let count = 0
        await new Promise((ok) => {
            const timer = setInterval(() => { if (++count === 3) { clearInterval(timer); ok() } }, 1)
        })
        await new Promise((ok) => {
            const number = +setInterval(() => { if (++count === 5) { clearInterval(number); setTimeout(ok, 5) } }, 1)
        })
        expect(count).toBe(5)
        expect(() => setTimeout('code', 1)).toThrow(TypeError)
    })
})
