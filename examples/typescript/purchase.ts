// Waits for a person, for as long as it takes: a run that waits holds no memory.
import { createWorkflow } from 'rival'
import { z } from 'zod'

const Decision = z.object({ approved: z.boolean(), by: z.string() })

export default createWorkflow('purchase')
    .description('Asks somebody, reminds them, and acts on the answer')
    .input(z.object({ what: z.string() }))
    .step(function ask({ input, state }) {
        state.description = `Asked: ${input.what}?`
        return { question: `${input.what}?` }
    })
    .signal('decision', { timeout: '7 days', schema: Decision })
    .branch({
        name: 'outcome',
        if: ({ steps }) => steps.decision.result.approved,
        then: [
            function proceed({ steps }) {
                return `approved by ${steps.decision.result.by}`
            },
        ],
        else: [
            function stop({ steps }) {
                return `declined by ${steps.decision.result.by}`
            },
        ],
    })
