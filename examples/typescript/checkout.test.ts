import { expect, runWorkflow, test } from 'rival/test'

const input = {
    items: [{ sku: 'saw', quantity: 2 }, { sku: 'glove', quantity: 1 }],
    amount: 40,
    card: '4242',
    address: 'Elm Street 1',
}

test('an order is packed and shipped', async () => {
    const run = await runWorkflow('./checkout.ts', { input })
    expect(run.status).toBe('completed')
    expect(run.output.parcels).toBe(2)
})

test('a bank that does not answer is asked again', async () => {
    const run = await runWorkflow('./checkout.ts', { input: { ...input, card: 'flaky' } })
    expect(run.status).toBe('completed')
})

test('a payment is refunded when the parcel cannot be sent', async () => {
    const run = await runWorkflow('./checkout.ts', { input: { ...input, address: 'nowhere' } })
    expect(run.status).toBe('failed')
    expect(run.failedStep?.stepName).toBe('labelParcel')
    expect(run.logs.map((line) => line.message).join()).toContain('refunding')
})

test('the bank can be left out', async () => {
    const charged: unknown[] = []
    const run = await runWorkflow('./checkout.ts', {
        input,
        mocks: {
            chargeCard: ({ input }) => {
                charged.push(input.amount)
                return { paymentId: 'test', amount: input.amount }
            },
        },
    })
    expect(run.output.payment).toBe('test')
    expect(charged).toEqual([40])
})
