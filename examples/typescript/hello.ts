// The smallest workflow: functions in order. Each sees what the ones before it returned.
import { z } from 'zod'

export const description = 'Greets somebody'

export const input = z.object({
    name: z.string().min(1).default('world'),
})

function greet({ input }: { input: z.infer<typeof input> }) {
    return `Hello, ${input.name}!`
}

function shout({ steps, state }) {
    const greeting = steps.greet.result
    state.description = `Shouted ${greeting.length} letters`
    return greeting.toUpperCase()
}

export const steps = [greet, shout]
