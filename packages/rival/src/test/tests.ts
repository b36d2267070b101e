/** Tests, as files list them. */
import type { Target, Tests } from '../realm.ts'
import { callerModule } from '../rival/caller.ts'
import { mockOf } from './mocks.ts'

interface Test {
    name: string
    fn: () => unknown
}

const byFile = new Map<string, Test[]>()
/** The names of the `describe` blocks around. */
const around: string[] = []

let current = ''

/** The file of the test that runs. */
export function testFile(): string {
    return current
}

/** Adds a test. It passes if the function neither throws nor rejects. */
export function test(name: string, fn: () => unknown): void {
    if (typeof fn !== 'function') throw new TypeError(`test '${String(name)}' needs a function`)
    const file = callerModule()
    if (file === undefined) throw new TypeError('test(..) can only be used in a test file')
    const known = byFile.get(file) ?? []
    known.push({ name: [...around, String(name)].join(' > '), fn })
    byFile.set(file, known)
}

/** Puts a name before those of the tests inside. */
export function describe(name: string, fill: () => void): void {
    around.push(String(name))
    try {
        fill()
    } finally {
        around.pop()
    }
}

export const tests: Tests = {
    list(file) {
        return (byFile.get(file) ?? []).map(({ name }, index) => ({ name, key: `test:${index}` }))
    },

    find(file, key): Target | undefined {
        const index = /^test:(\d+)$/.exec(key)?.[1]
        if (index === undefined) return mockOf(key)
        current = file
        const found = byFile.get(file)?.[Number(index)]
        return found && { fn: async () => void (await found.fn()), role: 'step' }
    },
}
