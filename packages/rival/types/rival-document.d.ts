/**
 * Workflows as JSON documents, for programs that write them: types, and the zod schemas of the same shape.
 *
 * ```ts
 * import { WorkflowSchema, type WorkflowDocument } from 'rival/document'
 *
 * const document: WorkflowDocument = { name: 'nap', steps: [[{ name: 'sleep', sleep: { ms: 1000 } }]] }
 * WorkflowSchema.parse(document)
 * ```
 *
 * The schemas judge the shape. What refs lead to, and whether types fit, the server says: `POST /api/documents/validate`.
 */
import type { z } from 'zod'

/** Where a value comes from: `@input.path`, `@step.output.path[0]`, `@item`, `@index`; in triggers `@output.path`. */
export type Ref = `@${string}`

/**
 * JSON with refs: a text that begins with `@` is a ref and keeps the type of its value, `@{…}` inside of a text puts a value into
 * it, `@@` at the beginning is a literal `@`.
 */
export type Template = { [field: string]: unknown }

/** A JSON Schema. */
export type JsonSchema = boolean | { [keyword: string]: unknown }

/** A workflow document, as it is written. */
export interface WorkflowDocument {
    /** The name of the workflow: 1 to 128 characters. */
    name: string
    /** What it is for. */
    description?: string
    /** What the workflow takes. Runs with other input are refused, and refs to `@input` are checked against it. */
    inputSchema?: JsonSchema
    /** Phases. They run one after the other; the steps of a phase run side by side. None of these lists is empty. */
    steps: DocumentStep[][]
    /** Workflows to start when a run has completed; at most 1,000. */
    triggers?: DocumentTrigger[]
    /** The schemas of the steps, as they were when the document was checked. They are computed; what is written here is ignored. */
    _schemas?: unknown
}

interface AnyDocumentStep {
    /** Letters, digits, `_` and `-`; unique in the document, and none of `input`, `item`, `index`, `output`. */
    name: string
    /** Another name for `@item`; `item` by default. */
    as?: string
    /** More items than this are an error; 100 by default. */
    maxIterations?: number
    /** `continue`: the run goes on when the step fails; with `forEach`, when an item fails. `fail` by default. */
    onError?: 'fail' | 'continue'
}

interface CallingStep extends AnyDocumentStep {
    input?: Template
    /** How long one attempt takes at most, in milliseconds. */
    timeout?: number
    sleep?: undefined
    waitForSignal?: undefined
}

/** Calls a tool of a connection. */
export interface ToolStep extends CallingStep {
    tool: { connectionId: string; toolName: string }
    /** How often the tool is called before the step fails. */
    retry?: {
        /** 3 by default. */
        maxAttempts?: number
        /** 1,000 by default. */
        backoffMs?: number
    }
    transform?: undefined
}

/** A pure function of its input. */
export interface TransformStep extends CallingStep {
    /** TypeScript: interfaces `Input` and `Output`, and one synchronous function as the default export. */
    transform: string
    tool?: undefined
    retry?: undefined
}

interface WaitingStep extends AnyDocumentStep {
    input?: undefined
    retry?: undefined
    tool?: undefined
    transform?: undefined
}

/** Waits for a time, or until a moment: a text as RFC 3339 writes it, or a ref to one. */
export interface SleepStep extends WaitingStep {
    sleep: { ms: number; until?: undefined } | { until: string; ms?: undefined }
    timeout?: undefined
    waitForSignal?: undefined
}

/** Waits for a signal; what it carries is the step's output. */
export interface SignalStep extends WaitingStep {
    waitForSignal: {
        name: string
        /** Of what the signal carries. */
        schema?: JsonSchema
    }
    /** How long the signal is waited for, in milliseconds. */
    timeout?: number
    sleep?: undefined
}

/** A step that is done once, or for each item of a list. */
export type Repeated =
    | {
          /** A ref to a list: the step is done for each item, `@item`, which has the number `@index`. */
          forEach: Ref
          /** How many items at a time; 1 by default. */
          concurrency?: number
      }
    | { forEach?: undefined; concurrency?: undefined }

/** A step, as it is written: exactly one of `tool`, `transform`, `sleep` and `waitForSignal`. */
export type DocumentStep = (ToolStep | TransformStep | SleepStep | SignalStep) & Repeated

/** A workflow that a completed run starts, as it is written. */
export interface DocumentTrigger {
    /** The workflow to start. */
    workflowId: string
    /** What it is given, with refs to `@output` and `@input`. A ref without a value skips the trigger. */
    inputs: Template
    /** One run for each item of this list: `@item`, `@index`. */
    forEach?: Ref
    /** The timeout of the runs that it starts. */
    workflow_timeout_ms?: number
    /** The retries of the runs that it starts. */
    max_retries?: number
}

/** A step with its defaults. */
export type Step = DocumentStep & {
    as: string
    maxIterations: number
    retry?: { maxAttempts: number; backoffMs: number }
}

/** A trigger. */
export type Trigger = DocumentTrigger

/** A document with its defaults. */
export interface Workflow extends WorkflowDocument {
    steps: Step[][]
    triggers?: Trigger[]
}

/** Judges the shape of a step, and fills in its defaults. */
export const StepSchema: z.ZodType<Step, DocumentStep>
/** Judges the shape of a trigger. */
export const TriggerSchema: z.ZodType<Trigger, DocumentTrigger>
/** Judges the shape of a document, and fills in its defaults. */
export const WorkflowSchema: z.ZodType<Workflow, WorkflowDocument>
