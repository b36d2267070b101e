/**
 * Workflow documents as zod schemas. They accept what `crates/document/src/document.schema.json` accepts, and nothing else: a test
 * asks both. The server's check knows more: names, refs and types.
 */
import { z } from 'zod'
import type { DocumentStep, DocumentTrigger, Step, Trigger, Workflow, WorkflowDocument } from '../../types/rival-document.d.ts'

/** What refs begin with, and steps cannot be called. */
const RESERVED = ['input', 'item', 'index', 'output']
const KINDS = ['tool', 'transform', 'sleep', 'waitForSignal'] as const
const UINT_MAX = 0xffff_ffff

const text = z.string().min(1)
const whole = z.int().min(0)
const count = z.int().min(1).max(UINT_MAX)
const ref = z.string().regex(/^@[^@{]/, 'a ref begins with `@`, as `@input.users`')
const template = z.record(z.string(), z.unknown())
const jsonSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())])

/** Length is counted as JSON Schema counts it: in characters, of which some are two units of a string. */
function atMost(max: number) {
    return [(it: string) => Array.from(it).length <= max, `it has at most ${max} characters`] as const
}

const named = (reserved: string[]) =>
    text
        .regex(/^[\p{Alphabetic}\p{N}_-]+$/u, 'a name has letters, digits, `_` and `-`')
        .refine(...atMost(128))
        .refine((it) => !reserved.includes(it), 'refs use this name for something else')

const sleep = z
    .strictObject({ ms: whole.optional(), until: text.optional() })
    .refine((it) => (it.ms === undefined) !== (it.until === undefined), '`sleep` has either `ms` or `until`')

const anyStep = z.strictObject({
    name: named(RESERVED),
    tool: z.strictObject({ connectionId: text, toolName: text }).optional(),
    transform: text.optional(),
    sleep: sleep.optional(),
    waitForSignal: z.strictObject({ name: text, schema: jsonSchema.optional() }).optional(),
    input: template.optional(),
    forEach: ref.optional(),
    as: named(RESERVED.filter((it) => it !== 'item')).default('item'),
    maxIterations: count.default(100),
    concurrency: count.optional(),
    retry: z.strictObject({ maxAttempts: count.default(3), backoffMs: whole.default(1000) }).optional(),
    timeout: z.int().min(1).optional(),
    onError: z.enum(['fail', 'continue']).optional(),
})

type AnyStep = z.output<typeof anyStep>

/** What each kind of step has no use for. */
const USELESS = {
    tool: [],
    transform: ['retry'],
    sleep: ['retry', 'input', 'timeout'],
    waitForSignal: ['retry', 'input'],
} as const satisfies Record<(typeof KINDS)[number], (keyof AnyStep)[]>

function judgeStep(step: AnyStep, context: z.core.$RefinementCtx<AnyStep>): void {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message, input: step })
    const [kind, another] = KINDS.filter((it) => step[it] !== undefined)
    if (kind === undefined || another !== undefined) {
        return refuse([], `a step has exactly one of ${KINDS.map((it) => `\`${it}\``).join(', ')}`)
    }
    for (const field of USELESS[kind]) {
        if (step[field] !== undefined) refuse([field], `a \`${kind}\` step takes no \`${field}\``)
    }
    if (step.concurrency !== undefined && step.forEach === undefined) {
        refuse(['concurrency'], '`concurrency` is for a step with `forEach`')
    }
}

const step = anyStep.superRefine(judgeStep)

const trigger = z.strictObject({
    workflowId: text,
    inputs: template,
    forEach: ref.optional(),
    workflow_timeout_ms: z.int().min(1).optional(),
    max_retries: z.int().min(0).max(UINT_MAX).optional(),
})

const workflow = z.strictObject({
    name: text.refine(...atMost(128)),
    description: z.string().optional(),
    inputSchema: jsonSchema.optional(),
    steps: z.array(z.array(step).min(1)).min(1),
    triggers: z.array(trigger).max(1000).optional(),
    _schemas: z.unknown().optional(),
})

// The types say more than zod's own: which fields go together, and how refs begin.
export const StepSchema = step as unknown as z.ZodType<Step, DocumentStep>
export const TriggerSchema = trigger as unknown as z.ZodType<Trigger, DocumentTrigger>
export const WorkflowSchema = workflow as unknown as z.ZodType<Workflow, WorkflowDocument>

/** What is of one type is of another, and has no field that the other has not. */
type Fits<A, B> = [A, AllKeys<A>, AllKeys<B>] extends [B, AllKeys<B>, AllKeys<A>] ? true : never
type AllKeys<T> = T extends unknown ? keyof T : never

// The types that authors see are those of the schemas: these lines compile only then.
true satisfies Fits<DocumentStep, z.input<typeof step>>
true satisfies Fits<Step, z.output<typeof step>>
true satisfies Fits<DocumentTrigger, z.input<typeof trigger>>
true satisfies Fits<Trigger, z.output<typeof trigger>>
true satisfies Fits<WorkflowDocument, z.input<typeof workflow>>
true satisfies Fits<Workflow, z.output<typeof workflow>>
