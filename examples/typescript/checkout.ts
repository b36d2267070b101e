// An order: checked, paid, packed item by item, shipped. What was paid is refunded when a later step fails.
import { z } from 'zod'
import { forEach, parallel, type StepContext } from 'rival'
import { chargeCard, refundCard } from './steps/payment'

export const description = 'Takes an order from the cart to the door'

export const input = z.object({
    items: z.array(z.object({ sku: z.string(), quantity: z.number().int().min(1) })).min(1),
    amount: z.number().positive(),
    card: z.string(),
    address: z.string(),
})

type Context = StepContext<z.infer<typeof input>>

function checkStock({ input, state }: Context) {
    const pieces = input.items.reduce((sum, item) => sum + item.quantity, 0)
    state.description = `${pieces} pieces in stock`
    return { pieces }
}

async function packItem({ loop, log }: Context) {
    const { sku, quantity } = loop!.item
    await new Promise((go) => setTimeout(go, 50))
    log.info(`packed ${quantity} of ${sku}`)
    return { sku, quantity }
}

function labelParcel({ input }: Context) {
    if (input.address === 'nowhere') throw new Error('no carrier goes there')
    return { carrier: 'by bicycle', to: input.address }
}

function sendEmail({ input }: Context) {
    return { sent: true, about: `${input.items.length} items` }
}

function updateLedger({ steps }: Context) {
    return { booked: steps.chargeCard.result.amount }
}

function summarize({ steps }: Context) {
    return { payment: steps.chargeCard.result.paymentId, parcels: steps.pack.result.length }
}

export const steps = [
    checkStock,
    { fn: chargeCard, maxAttempts: 3, timeout: '10s', compensate: refundCard },
    forEach({ name: 'pack', items: ({ input }) => input.items, body: [packItem], concurrency: 3 }),
    labelParcel,
    parallel({ name: 'tell', steps: [sendEmail, updateLedger] }),
    summarize,
]
