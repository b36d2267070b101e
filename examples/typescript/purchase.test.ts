import { expect, runWorkflow, test } from 'rival/test'

test('a yes goes on', async () => {
    const run = await runWorkflow('./purchase.ts', {
        input: { what: 'a new saw' },
        signals: [{ name: 'decision', payload: { approved: true, by: 'Ada' } }],
    })
    expect(run.output).toBe('approved by Ada')
})

test('after seven days nobody is asked any more', async () => {
    const run = await runWorkflow('./purchase.ts', { input: { what: 'a new saw' } })
    expect(run.status).toBe('failed')
    expect(run.error?.code).toBe('signal_timeout')
})
