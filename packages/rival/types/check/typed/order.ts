// What an author gets who writes types. Lines after `@ts-expect-error` must not compile.
import { branch, createWorkflow, forEach, httpStep, parallel, Results, sleep, StepError } from 'rival'
import type { CompensateContext, FailureContext, HttpResponse, StepContext } from 'rival'
import { z } from 'zod'

const Order = z.object({ id: z.string(), lines: z.array(z.object({ sku: z.string(), count: z.number() })) })
type Order = z.infer<typeof Order>

export const input = Order
export const results = Results({
    price: z.object({ total: z.number() }),
    pay: z.object({ payment: z.string() }),
})
type Context = StepContext<Order, typeof results.Steps>

// The type of the input can be given by its schema.
function bySchema({ input }: StepContext<typeof Order>) {
    // @ts-expect-error no such field
    input.customer
    return input.lines.length
}

async function price({ input, log, state }: Context) {
    state.description = `priced ${input.lines.length} lines`
    log.info({ order: input.id }, 'pricing')
    log.debug('done')
    // @ts-expect-error no such field
    input.customer
    return { total: 7 }
}

async function pay({ steps, run, durable }: Context) {
    const total: number = steps.price.result.total
    // @ts-expect-error no such step
    steps.prize
    // @ts-expect-error no such field
    steps.price.result.sum
    if (total > 1_000) throw new StepError('too much', { behavior: 'retry', maxAttempts: 2, code: 'too_much' })
    // @ts-expect-error no such behavior
    new StepError('x', { behavior: 'later' })
    await fetch('https://example.com', { signal: run.abortSignal, headers: { 'x-key': run.idempotencyKey } })
    const payment = await durable.once('charge', async () => 'payment-1')
    const settled = await durable.map([1, 2], 'child', { collect: true })
    const word: string | void = await durable.race([durable.signal<string>('word'), durable.sleep('1 day')])
    await durable.sleep('1 hour', { abort: AbortSignal.timeout(5) })
    settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason))
    return { payment: payment.toUpperCase() }
}

function refund({ result, outcome }: CompensateContext<Order, typeof results.Steps, { payment: string }>) {
    return outcome === 'completed' ? result.payment : null
}

function ship({ loop, lastStep }: StepContext<Order>) {
    return `${loop.index}: ${loop.item.sku} after ${lastStep.stepName}`
}

export function onError({ error, failedStep, workflowState }: FailureContext<Order>) {
    return `${workflowState.input.id}: ${failedStep.stepName} failed with ${error.code}: ${error.message}`
}

export const steps = [
    price,
    { fn: pay, timeout: '5s', onTimeout: 'retry', maxAttempts: 3, compensate: { fn: refund, maxAttempts: 5 } },
    branch<Order>({ name: 'many', if: ({ input }) => input.lines.length > 3, then: [ship], else: ship }),
    forEach<Order>({ name: 'ship', items: ({ input }) => input.lines, body: [ship], concurrency: 4 }),
    parallel({ name: 'tell', branches: { mail: [price], sms: price }, join: 1 }),
    sleep({ minutes: 5, name: 'rest' }),
    httpStep({ url: ({ input }) => `https://example.com/${input.id}`, expect: [200, 404] }),
]

const built = createWorkflow('order')
    .input(Order)
    .description('takes an order')
    .step(({ input }) => input.lines.length)
    .step(bySchema)
    .step(httpStep({ url: ({ input }) => input.id, body: ({ input }) => ({ lines: input.lines.length }) }))
    // @ts-expect-error the input has no such field
    .step(httpStep({ url: 'https://example.com', body: ({ input }) => input.customer }))
    .step({ fn: price, maxAttempts: 2, onError: ({ workflowState }) => workflowState.input.id })
    // @ts-expect-error the input has no such field
    .step(({ input }) => input.customer)
    // @ts-expect-error no such option
    .step({ fn: price, timout: 5 })
    // @ts-expect-error not a step
    .step('price')
    .parallel('both')
    .branch('a', (b) => b.step(({ input }) => input.id).sleep(100))
    .branch('b', (b) => b.parallel('inner').branch('c', (c) => c.step(price)).join('first').step(pay))
    .join('all')
    .onFailure('collect')
    .finally(({ result, input }) => ({ ...result, id: input.id }))
    .branch({ name: 'which', on: ({ input }) => input.id, cases: { a: [price], b: pay }, default: price })
    .loop({ name: 'poll', body: [price], until: ({ steps }) => steps.price.result.total > 3, maxIterations: 10 })
    .signal('approval', { timeout: '7 days', timeoutIsValue: true, schema: z.object({ by: z.string() }) })
    .sleep(({ input }) => ({ seconds: input.lines.length }))
    .sleep({ until: '2030-01-01T00:00:00Z', name: 'newYear' })
    .onError(({ workflowState }) => workflowState.input.id)
    .timeout('1h')
    .maxRetries(2)
    .build()

createWorkflow('outer').workflow(built, { input: ({ input }) => ({ id: input, lines: [] }) }).register()

export function weather({ lastStep }: StepContext) {
    const answer: HttpResponse<{ rain: boolean }> = lastStep.result
    return answer.body.rain
}
