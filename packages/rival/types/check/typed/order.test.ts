import { describe, expect, runWorkflow, test } from 'rival/test'

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
