import { describe, expect, runWorkflow, test } from 'rival/test'

describe('hello', () => {
    test('greets by name, in the second attempt', async () => {
        const run = await runWorkflow('../workflows/hello.ts', { input: { name: 'Ada', guests: ['Grace'] } })
        expect(run.status).toBe('completed')
        expect(run.output).toBe('Hello, Ada! And you, Grace.')
    })

    test('does not need the address book', async () => {
        const run = await runWorkflow('../workflows/hello.ts', {
            input: { name: 'Diego' },
            mocks: { lookUp: { name: 'Diego', language: 'es' } },
        })
        expect(run.output).toBe('¡Hola, Diego!')
    })

    test('has ten chairs', async () => {
        const guests = Array.from({ length: 11 }, (_, index) => `guest ${index}`)
        const run = await runWorkflow('../workflows/hello.ts', { input: { name: 'Ada', guests } })
        expect(run.status).toBe('failed')
        expect(run.error?.message).toContain('ten chairs')
    })
})
