// Asks again and again until something is ready, with a durable sleep between.
import { loop, sleep, type StepContext } from 'rival'

export const description = 'Waits until a job elsewhere is done'

function ask({ loop }: StepContext) {
    return { done: loop!.index >= 2, asked: loop!.index + 1 }
}

export const steps = [
    loop({
        name: 'until done',
        body: [sleep('200ms'), ask],
        until: ({ steps }) => steps.ask.result.done,
        maxIterations: 50,
    }),
    function report({ lastStep }: StepContext) {
        return `done after ${lastStep.result.asked} questions`
    },
]
