import { StepError } from 'rival'

declare function sendToSlack(text: string): void

function findTree({ input }) {
    try {
        // ... do something
    } catch (e) {
        if (e.code === 'TIMEOUT') {
            // Retry this error
            throw new StepError('Database timeout', {
                behavior: 'retry',
                maxAttempts: 3,
                backoff: 'exponential'
            })
        }
        // Stop workflow on this error
        throw new StepError('Invalid data', { behavior: 'stop' })
    }
}

// workflows/tree-processing.ts
export const onError = ({ error, failedStep, workflowState }) => {
    // error: the exception/error that occurred
    // failedStep: { result, state, stepName, status }
    // workflowState: { input, steps, status, runId, workflowName }
    sendToSlack(`Workflow ${workflowState.workflowName} failed at ${failedStep.stepName}`)
}

export const steps = [findTree]
