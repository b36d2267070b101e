// The smallest workflow: functions in order. Each sees what the ones before it returned.
import { z } from 'zod'
import type { StepContext } from 'rival'

export const description = 'Greets somebody'

export const input = z.object({
    name: z.string().min(1).default('world'),
})
type Context = StepContext<z.infer<typeof input>>

function greet({ input }: Context) {
    return `Hello, ${input.name}!`
}

function shout({ steps, state }: Context) {
    const greeting = steps.greet.result
    state.description = `Shouted ${greeting.length} letters`
    return greeting.toUpperCase()
}

export const steps = [greet, shout]
