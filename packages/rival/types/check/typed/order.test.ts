import { createWorkflow } from 'rival'
import { advance, describe, expect, runWorkflow, startWorkflow, test, type RunOptions } from 'rival/test'

describe('an order', () => {
    test('is paid', async () => {
        const run = await runWorkflow<{ payment: string }>('./order.ts', {
            input: { id: '7', lines: [] },
            mocks: { price: { total: 3 }, pay: ({ input }) => ({ payment: input.id }) },
            signals: [{ name: 'approval', payload: { by: 'Ada' } }],
        })
        expect(run.status).toBe('completed')
        expect(run.output.payment).not.toEqual('')
        expect(run.results.price?.result).toMatchObject({ total: 3 })
        await expect(Promise.resolve(1)).resolves.toBeGreaterThan(0)
        await expect(Promise.reject(new Error('x'))).rejects.toThrow('x')
    })
})

interface Rate {
    rate: number
}

describe('what a test replaces', () => {
    const rate: Rate = { rate: 2 }
    const options: RunOptions = {
        workflow: 'order',
        workflows: ['./invoice.ts', createWorkflow('built').step(() => 1)],
        mocks: { 'invoice/send': ({ steps }) => steps.number?.result, price: rate },
        children: { invoice: ({ input }) => input.amount, letter: 'sent' },
        once: { payment: 'p-1', token: async () => 't-1' },
        fetch: {
            'https://rates.example/*': rate,
            'POST https://rates.example/': async (request) => new Response(await request.text(), { status: 201 }),
        },
        signals: [{ name: 'approval', after: '2 days' }, { name: 'other', payload: 1, after: 500 }],
    }

    test('in time', async () => {
        const run = await startWorkflow<number>('./order.ts', options)
        await run.untilWaitingFor('approval')
        await advance({ hours: 5 })
        await run.signal('approval', { by: 'Ada' })
        const { output, failedStep, error } = await run.result()
        expect(output + 1).toBe(3)
        expect(failedStep?.path ?? error?.code).toBeUndefined()
    })

    test('requests', async () => {
        await runWorkflow('./order.ts', { fetch: 'real' })
        await runWorkflow('./order.ts', { fetch: (request) => (request.method === 'GET' ? rate : undefined) })
    })

    test('what does not fit', async () => {
        // @ts-expect-error there is one word for real requests
        await runWorkflow('./order.ts', { fetch: 'all' })
        // @ts-expect-error a signal has a name
        await runWorkflow('./order.ts', { signals: [{ after: '1s' }] })
        // @ts-expect-error options are known
        await runWorkflow('./order.ts', { mock: {} })
        // @ts-expect-error a workflow is a file, or was built
        await runWorkflow({ steps: [] })
        // @ts-expect-error a run that did not fail has no failed step
        ;(await runWorkflow('./order.ts')).failedStep.path
        // @ts-expect-error a mock gives JSON
        await runWorkflow('./order.ts', { mocks: { price: undefined } })
    })
})
