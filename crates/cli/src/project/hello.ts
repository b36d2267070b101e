// Greets a person, in a few steps. Each step is a function; what it returns is kept, so that a run that is
// interrupted, by a crash or a restart, goes on where it was.
import { createWorkflow, StepError } from 'rival'
import { z } from 'zod'

const Input = z.object({
    name: z.string().min(1).describe('Who is greeted'),
    guests: z.array(z.string()).default([]),
})

export default createWorkflow('hello')
    .description('Greets somebody, and whoever comes along')
    .input(Input)
    .step({
        // Fails once, to show what happens then: it is tried again after a second.
        fn: function lookUp({ input, run, log }) {
            log.info(`looking for ${input.name}, attempt ${run.attempt}`)
            if (run.attempt === 1) throw new Error('the address book is busy')
            return { name: input.name, language: input.name.endsWith('o') ? 'es' : 'en' }
        },
        maxAttempts: 3,
    })
    .parallel('prepare')
    .branch('words', (words) =>
        words.step(function chooseWords({ steps }) {
            const { name, language } = steps.lookUp.result
            return language === 'es' ? `¡Hola, ${name}!` : `Hello, ${name}!`
        }),
    )
    .branch('table', (table) =>
        table
            .step(function countGuests({ input }) {
                if (input.guests.length > 10) throw new StepError('there are only ten chairs', { behavior: 'stop' })
                return input.guests.length
            })
            // Sleeping costs nothing: days are fine too, and a restart does not matter.
            .sleep('2 seconds'),
    )
    .step(function greet({ input, steps, state }) {
        const greeting = steps.prepare.result.words
        state.description = `Greeted ${1 + input.guests.length}`
        return [greeting, ...input.guests.map((guest) => `And you, ${guest}.`)].join(' ')
    })
