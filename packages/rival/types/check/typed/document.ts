// Documents whose types say what the published schema says of them.
import { type DocumentStep, type Step, StepSchema, type Workflow, type WorkflowDocument, WorkflowSchema } from 'rival/document'

export const everything: WorkflowDocument = {
    name: 'everything',
    description: '',
    inputSchema: { type: 'object' },
    steps: [
        [
            {
                name: 'a',
                tool: { connectionId: 'c', toolName: 't' },
                input: { x: '@input.x', list: [1, { deep: null }] },
                forEach: '@input.list',
                as: 'user',
                maxIterations: 5,
                concurrency: 2,
                retry: { maxAttempts: 2, backoffMs: 0 },
                timeout: 1000,
                onError: 'continue',
            },
            { name: 'b', sleep: { ms: 5 }, as: 'item', maxIterations: 100 },
        ],
        [
            { name: 'c', sleep: { until: '2027-01-31T09:00:00Z' } },
            { name: 'd', waitForSignal: { name: 'approve', schema: { type: 'string' } }, timeout: 1, onError: 'fail' },
        ],
        [{ name: 'e', transform: 'type Input = {}; type Output = string; export default (input: Input): Output => ""', input: {} }],
    ],
    triggers: [{ workflowId: 'w', inputs: { e: '@output' }, forEach: '@output.items', workflow_timeout_ms: 1, max_retries: 0 }],
}

// @ts-expect-error exactly one of them
export const both: DocumentStep = { name: 'a', transform: 'x', sleep: { ms: 1 } }
// @ts-expect-error exactly one of them
export const none: DocumentStep = { name: 'a' }
// @ts-expect-error either `ms` or `until`
export const long: DocumentStep = { name: 'a', sleep: { ms: 1, until: '2027-01-31T09:00:00Z' } }
// @ts-expect-error one of them
export const endless: DocumentStep = { name: 'a', sleep: {} }
// @ts-expect-error a sleep takes nothing
export const fed: DocumentStep = { name: 'a', sleep: { ms: 1 }, input: {} }
// @ts-expect-error a sleep ends at its time
export const late: DocumentStep = { name: 'a', sleep: { ms: 1 }, timeout: 1 }
// @ts-expect-error a wait takes nothing
export const told: DocumentStep = { name: 'a', waitForSignal: { name: 's' }, input: {} }
// @ts-expect-error only tools are tried again
export const again: DocumentStep = { name: 'a', transform: 'x', retry: {} }
// @ts-expect-error one at a time of what?
export const beside: DocumentStep = { name: 'a', transform: 'x', concurrency: 2 }
// @ts-expect-error a ref begins with `@`
export const each: DocumentStep = { name: 'a', transform: 'x', forEach: 'input.list' }
// @ts-expect-error there is no such field
export const slip: DocumentStep = { name: 'a', transform: 'x', onerror: 'continue' }
// @ts-expect-error a word that it cannot be
export const word: DocumentStep = { name: 'a', transform: 'x', onError: 'ignore' }
// @ts-expect-error it has a name
export const nameless: WorkflowDocument = { steps: [] }

export const parsed: Workflow = WorkflowSchema.parse(everything)
export const step: Step = StepSchema.parse({ name: 'a', transform: 'x' })
export const most: number = step.maxIterations
export const item: string = parsed.steps[0]![0]!.as
