import { describe, expect, test } from 'rival/test'

// What it writes is looked at by tests/it/scripts.rs, line by line.
test('console writes what Node would', () => {
    console.log('text', 1, true, null, undefined, -0, 10n, Symbol('s'))
    console.log({ a: 'it', 'b-c': [1, , 'x'], f() {}, g: () => {}, C: class Point {} })
    console.log([new Map([['k', { v: 1 }]]), new Set([1]), new Date(0), /x/g, new Uint8Array([1, 2])])
    console.log({ deep: { deeper: { deepest: { hidden: 1 } } } })
    const round = { name: 'round' }
    round.self = round
    console.log(round)
    console.log('%s is %d years, %i, %f, %j %o %% %c!', 'Ada', 36, 1.9, '2.5', { a: 1 }, [1], 'css')
    console.log('%s', { toString: () => 'mine' }, 'more')
    console.log(Object.create(null), new (class Tree { kind = 'oak' })(), [], {})
    console.log("it's", ["it's", '"quoted"', 'line\nbreak'])
    console.log(Array.from({ length: 30 }, (_, n) => n * 1000))
    console.debug('d'), console.info('i'), console.warn('w'), console.error('e')
    console.assert(1 === 1, 'never')
    console.assert(false, 'wrong', 7)
    console.count(), console.count(), console.count('x'), console.countReset(), console.count()
    console.group('outer')
    console.log('inner\nlines')
    console.groupEnd()
    console.log('after')
    console.table([{ a: 1, b: 'x' }, { a: 2 }])
    console.timeEnd('never')
    console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })
    expect(console.clear()).toBeUndefined()
})

describe('errors', () => {
    test('are shown with their stack and parts', () => {
        console.log(Object.assign(new TypeError('no', { cause: new Error('deep') }), { code: 'E1' }))
        console.trace('here')
        console.time('t')
        console.timeEnd('t')
    })
})
