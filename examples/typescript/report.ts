// A workflow that starts others and waits for them, inside of one step.
import { z } from 'zod'
import type { StepContext } from 'rival'

export const description = 'Greets many people, each in a run of its own'

export const input = z.object({ names: z.array(z.string()).default(['Ada', 'Grace', 'Edsger']) })
type Context = StepContext<z.infer<typeof input>>

async function greetAll({ input, durable }: Context) {
    const day = await durable.once('day', () => new Date().toISOString().slice(0, 10))
    const greetings = await durable.map(input.names.map((name) => ({ name })), 'hello')
    return { day, greetings }
}

export const steps = [greetAll]
