/**
 * Rival: durable workflows. A workflow is a list of steps, and a step is a function that is given a context.
 *
 * ```ts
 * export const input = z.object({ kind: z.string() })
 *
 * type Context = StepContext<typeof input>
 *
 * function findTree({ input }: Context) {
 *     return { id: `${input.kind}-7` }
 * }
 *
 * export const steps = [findTree, chopTree]
 * ```
 */

/** A number of milliseconds, or a text such as `'500ms'`, `'5s'`, `'2 minutes'`, `'1h 30m'`. */
export type Duration = number | string

/** What is used of zod's schemas. */
export interface Schema<Output = any, Input = any> {
    readonly _zod: { readonly output: Output; readonly input: Input }
}

/** What a schema makes of what it is given. */
export type Infer<S extends Schema> = S['_zod']['output']

/** The type of an input, which is given itself or by its schema: `StepContext<typeof input>`. */
export type InputOf<Input> = [Input] extends [infer S extends Schema] ? Infer<S> : Input

// ---------------------------------------------------------------------------------------------------------------------
// What functions are given
// ---------------------------------------------------------------------------------------------------------------------

export type StepStatus =
    | 'pending'
    | 'running'
    | 'waiting_retry'
    | 'waiting'
    | 'blocked'
    | 'completed'
    | 'failed'
    | 'skipped'
    | 'cancelled'

export type RunStatus =
    | 'queued'
    | 'running'
    | 'waiting'
    | 'paused'
    | 'blocked'
    | 'cancelling'
    | 'compensating'
    | 'completed'
    | 'failed'
    | 'cancelled'

/** What a step puts into its state is recorded with its outcome. It is empty at the beginning of each call. */
export interface StepState {
    /** What the step did, in words for people. */
    description?: string
    /** `true` marks the step as skipped; the run goes on. */
    skipped?: boolean
    [key: string]: any
}

/** An earlier step. */
export interface StepEntry<Result = any> {
    result: Result
    state: StepState
    status: StepStatus
}

/** Earlier steps by name: those of the same block, then those of the blocks around it. */
export interface AnySteps {
    [stepName: string]: StepEntry
}

/** The node before this one. */
export interface LastStep<Result = any> {
    /** `null` for the first step, and if the step has no result. */
    result: Result
    /** `{}` for the first step. */
    state: StepState
    /** `null` for the first step. */
    stepName: string | null
}

/** Lines for the step's log; they are stored with the run. `console` writes there too. */
export interface Logger {
    debug: LogMethod
    info: LogMethod
    warn: LogMethod
    error: LogMethod
}

export interface LogMethod {
    (message: string, ...values: unknown[]): void
    (fields: object, message?: string, ...values: unknown[]): void
}

/** Where a function stands in the loops around it. */
export interface Loop<Item = any, Last = any> {
    /** Which iteration of the nearest loop or forEach this is, from 0. */
    index: number
    /** The item of the nearest forEach. */
    item: Item
    /** All its items. */
    items: Item[]
    /** In a loop: what the iteration before gave; `null` in the first. */
    last: Last
}

/** Which run this is, and which call. */
export interface RunInfo {
    runId: string
    workflow: string
    /** The path of the node, such as `setup/db/createUser`. */
    node: string
    /** From 1; only failures that count make it grow. */
    attempt: number
    /** From 1; grows with every call. */
    call: number
    /** The same for every call of this step in this run: pass it to services that act once for each key. */
    idempotencyKey: string
    /** Aborted when the step times out or the run is cancelled. */
    abortSignal: AbortSignal
}

/**
 * Waiting inside of a step. What is asked for is recorded: if the step is called again, because it was let go while it
 * waited or because the process died, each of these gives what it gave before. So ask for the same things in the same
 * order, and put side effects into `once`.
 */
export interface Durable {
    /** Starts a child, a run of its own, and gives its output. */
    run<Output = any>(workflow: string | WorkflowLike, input?: unknown, options?: Abortable): Promise<Output>
    /** Starts a child for each item and gives their outputs in order. The first failure cancels the others. */
    map<Output = any>(
        items: Iterable<unknown>,
        workflow: string | WorkflowLike,
        options?: { concurrency?: number; collect?: false } & Abortable,
    ): Promise<Output[]>
    /** The same; all come to their end, and failures are shown. */
    map<Output = any>(
        items: Iterable<unknown>,
        workflow: string | WorkflowLike,
        options: { concurrency?: number; collect: true } & Abortable,
    ): Promise<PromiseSettledResult<Output>[]>
    /** Waits for a signal and gives its payload. A timeout is an error, or `null` with `timeoutIsValue`. */
    signal<Payload = any>(
        name: string,
        options?: { timeout?: Duration; timeoutIsValue?: boolean } & Abortable,
    ): Promise<Payload>
    /** Waits for a time. */
    sleep(duration: Duration | DurationParts, options?: Abortable): Promise<void>
    /** Does something once; what it gave is recorded. */
    once<Result>(name: string, action: () => Result | Promise<Result>, options?: Abortable): Promise<Result>
    /**
     * As `Promise.race`, and the operations that lost are given up: sleeps and waits for signals end, children are
     * cancelled. With `Promise.race` they stay open until the step ends, and can be awaited later.
     */
    race<T extends readonly unknown[]>(items: T): Promise<Awaited<T[number]>>
    /** As `Promise.any`, and the operations that did not win are given up. */
    any<T extends readonly unknown[]>(items: T): Promise<Awaited<T[number]>>
}

/** What an operation may be given to end it early. */
export interface Abortable {
    /** Gives the operation up when it fires: what awaits it is thrown the signal's reason. */
    abort?: AbortSignal
}

/** What a step is given; `Input` is the type of the workflow's input, or of its schema. */
export type StepContext<Input = any, Steps = AnySteps> = ContextWith<InputOf<Input>, Steps>

/** What a step is given with an input of this type. */
export interface ContextWith<Input, Steps> {
    /** The workflow's input, as its schema made it; `undefined` if there is none. */
    input: Input
    /** The step's own state. */
    state: StepState
    /** Earlier steps by name: `steps.findTree.result`. */
    steps: Steps
    /** The node before this one. */
    lastStep: LastStep
    log: Logger
    /** Inside of a loop or forEach; `undefined` elsewhere. */
    loop: Loop
    run: RunInfo
    /** Children, signals, sleeps and things done once, inside of the step. */
    durable: Durable
}

/** What the `finally` of a parallel block is given. */
export interface FinallyContext<Input = any, Steps = AnySteps> extends StepContext<Input, Steps> {
    /** What the branches gave, by name. */
    result: any
}

/** What a compensation is given. */
export interface CompensateContext<Input = any, Steps = AnySteps, Result = any> extends StepContext<Input, Steps> {
    /** What the step returned; `null` if that is not known. */
    result: Result
    /** `unknown`: the step timed out or was cut short, and may have acted or not. */
    outcome: 'completed' | 'unknown'
}

/** What an error handler is given. */
export type FailureContext<Input = any> = FailureWith<InputOf<Input>>

/** What an error handler is given with an input of this type. */
export interface FailureWith<Input> {
    error: Error & { code: string; details?: any }
    failedStep: {
        result: any
        state: StepState
        /** `__input__` if the input was refused. */
        stepName: string
        status: StepStatus
        path: string
    }
    workflowState: {
        input: Input
        steps: AnySteps
        status: RunStatus
        /** `null` if the input was refused: there is no run then. */
        runId: string | null
        workflowName: string
    }
    log: Logger
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps
// ---------------------------------------------------------------------------------------------------------------------

/** A step: a function, `async` or not. What it returns must be JSON; returning nothing records `null`. */
export type StepFunction<Input = any> = (context: StepContext<Input, any>) => unknown

/** Decides something for a block: which way, whether to go on, which items. Asked once, and recorded. */
export type Decide<Input, Result> = (context: StepContext<Input, any>) => Result | Promise<Result>

export type ErrorHandler<Input = any> = (failure: FailureContext<Input>) => unknown

/** When and how often a function is tried. */
export interface RetryOptions {
    /** Attempts in all; one by default. */
    maxAttempts?: number
    /** How the wait between attempts grows: `linear` by default. */
    backoff?: 'linear' | 'exponential'
    /** The first wait; one second by default. */
    backoffMs?: Duration
    /** Shortens each wait by up to half, so that failures do not come back together. */
    jitter?: boolean
}

/** A step with options. */
export interface StepConfig<Input = any> extends RetryOptions {
    fn: StepFunction<Input>
    /** Another id than the function's name. */
    name?: string
    /** The longest time that one attempt may take. */
    timeout?: Duration
    /** Whether a timeout is tried again; `stop` by default. */
    onTimeout?: 'stop' | 'retry'
    /** Called when the step has failed for good. */
    onError?: ErrorHandler<Input>
    /** A failure is recorded, and the run goes on. */
    continueOnError?: boolean
    /** After a crash the step fails instead of being called again. */
    atMostOnce?: boolean
    /** Undoes the step if the run fails or is cancelled later. */
    compensate?: Compensate<Input> | (RetryOptions & { fn: Compensate<Input>; timeout?: Duration })
}

export type Compensate<Input = any> = (context: CompensateContext<Input, any>) => unknown

declare const part: unique symbol

/** A block or a wait, as an element of a list of steps. */
export interface Part {
    readonly [part]: true
}

/** Another file's workflow, as an element of a list of steps. */
export interface WorkflowReference {
    readonly path: string
}

/** Whatever builds a workflow. */
export interface WorkflowLike {
    readonly name: string
    build(): unknown
}

/** An element of a list of steps. */
export type Step<Input = any> = StepFunction<Input> | StepConfig<Input> | Part | WorkflowReference | WorkflowLike

/** What runs one after the other: one element, or a list. */
export type Body<Input = any> = Step<Input> | readonly Step<Input>[]

export interface DurationParts {
    ms?: number
    seconds?: number
    minutes?: number
    hours?: number
}

/** How long to wait, or until when. */
export type Wait = Duration | Date | DurationParts | { until: Date | string | number }

/** The same, with an id of its own if wanted. */
export type SleepOptions =
    | Duration
    | Date
    | (DurationParts & { name?: string })
    | { until: Date | string | number; name?: string }

export interface SignalOptions {
    /** Another id than the signal's name. */
    name?: string
    timeout?: Duration
    /** A timeout gives `null` instead of failing. */
    timeoutIsValue?: boolean
    /** What the payload must be; checked when the signal is sent. */
    schema?: Schema
}

/** A choice: `if` says true or false, `on` says the name of a case. */
export type BranchOptions<Input = any> =
    | { name?: string; if: Decide<Input, unknown>; then?: Body<Input>; else?: Body<Input> }
    | { name?: string; on: Decide<Input, unknown>; cases: Record<string, Body<Input>>; default?: Body<Input> }

/** Repeats its body: `until` is asked after each iteration, `while` before. */
export type LoopOptions<Input = any> = {
    name?: string
    body: Body<Input>
    /** More iterations are an error; 1,000 by default. */
    maxIterations?: number
} & ({ until: Decide<Input, unknown> } | { while: Decide<Input, unknown> })

/** Runs its body for each item; inside, `loop.item` is the item. */
export interface ForEachOptions<Input = any> {
    name?: string
    items: Decide<Input, Iterable<unknown>> | readonly unknown[]
    body?: Body<Input>
    step?: Step<Input>
    steps?: readonly Step<Input>[]
    /** How many items at a time; one by default. */
    concurrency?: number
    /** More items are an error. */
    maxIterations?: number
}

/** What a parallel block waits for: all branches, the first success, or so many successes. */
export type Join = 'all' | 'first' | number

/** Runs branches side by side. */
export type ParallelOptions<Input = any> = {
    name?: string
    join?: Join
    /** `collect` lets all branches finish and shows their failures. */
    onFailure?: 'fail' | 'collect'
    /** Makes the block's result of what the branches gave. */
    finally?: (context: FinallyContext<Input, any>) => unknown
} & (
    | { /** Each is a branch of its own, with the step's name. */ steps: readonly Step<Input>[] }
    | { /** Branches by name. */ branches: Record<string, Body<Input>> }
)

/** A choice, as an element of `steps`. */
export function branch<Input = any>(options: BranchOptions<Input>): Part
/** A loop, as an element of `steps`. */
export function loop<Input = any>(options: LoopOptions<Input>): Part
/** A forEach, as an element of `steps`. */
export function forEach<Input = any>(options: ForEachOptions<Input>): Part
/** A parallel block, as an element of `steps`. */
export function parallel<Input = any>(options: ParallelOptions<Input>): Part
/** A wait for a time, as an element of `steps`. It holds no memory and survives a restart. */
export function sleep<Input = any>(wait: SleepOptions | Decide<Input, Wait>): Part
/** A wait for a signal, as an element of `steps`. It gives the signal's payload. */
export function signal(name: string, options?: SignalOptions): Part
/** Another file's workflow, as an element of `steps`: its steps run in place. The path is relative to this file. */
export function workflow(path: string): WorkflowReference

/** A wait for a time: the same as {@link sleep}. Its id is `delay`. */
export function delayStep<Input = any>(wait: SleepOptions | Decide<Input, Wait>): Part

/** A value, or a function that makes it of the step's context. */
export type FromContext<Value, Input = any> = Value | ((context: StepContext<Input>) => Value | Promise<Value>)

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | undefined | object

export interface HttpOptions<Input = any> {
    url: FromContext<string | URL, Input>
    /** `GET` by default. */
    method?: FromContext<string, Input>
    /** Added to the URL's query. */
    query?: FromContext<Record<string, string | number | boolean | null | undefined>, Input>
    headers?: FromContext<Record<string, string> | Headers | [string, string][], Input>
    /** A text is sent as it is, anything else as JSON. */
    body?: FromContext<JsonValue, Input>
    /** Until the whole answer is there; 30 seconds by default. */
    timeout?: FromContext<Duration, Input>
    /** Which statuses are an answer rather than a failure: `success` (2xx) by default. */
    expect?: FromContext<'success' | 'any' | number | number[], Input>
    /** The largest body; 8 MiB by default. */
    maxBodyBytes?: number
}

/** What an {@link httpStep} records. */
export interface HttpResponse<Body = any> {
    status: number
    /** With names in lower case. */
    headers: Record<string, string>
    /** JSON if the server says so, otherwise a text; `null` if there is none. */
    body: Body
}

/**
 * A step that sends a request and records the answer. Any status but 2xx is a failure with the code `http_status`; 408,
 * 425, 429, 5xx and no answer at all are tried again while attempts remain. Requests that may change something carry
 * the header `Idempotency-Key`. Its id is `http`.
 */
export function httpStep<Input = any>(
    options: HttpOptions<Input>,
): (context: StepContext<Input, any>) => Promise<HttpResponse>

/** An error that says what should happen next. Any other error is tried again while the step's attempts remain. */
export class StepError extends Error {
    constructor(message?: string, options?: StepErrorOptions)
    readonly behavior: 'stop' | 'continue' | 'retry'
    readonly maxAttempts?: number
    readonly backoff?: 'linear' | 'exponential'
    readonly backoffMs?: number
    readonly code?: string
    readonly details?: unknown
}

export interface StepErrorOptions {
    /**
     * `stop` (the default) ends the step even if attempts remain; `continue` records the failure and goes on;
     * `retry` asks for another attempt, within the step's own limit.
     */
    behavior?: 'stop' | 'continue' | 'retry'
    maxAttempts?: number
    backoff?: 'linear' | 'exponential'
    backoffMs?: Duration
    /** A stable word for programs. */
    code?: string
    /** Anything else that is to be recorded. */
    details?: unknown
    cause?: unknown
}

// ---------------------------------------------------------------------------------------------------------------------
// Workflows
// ---------------------------------------------------------------------------------------------------------------------

/** Nodes that follow each other. Each method adds one, in place, and gives the same builder. */
export interface Block<Input = any> {
    step(step: Step<Input>): this
    steps(steps: readonly Step<Input>[]): this
    /** Runs branches side by side. */
    parallel(options: ParallelOptions<Input>): this
    /** Begins a parallel block; its branches follow, and any other method of this builder closes it. */
    parallel(name?: string): ParallelBlock<Input, this>
    branch(options: BranchOptions<Input>): this
    loop(options: LoopOptions<Input>): this
    forEach(options: ForEachOptions<Input>): this
    /** Waits for a time. */
    sleep(wait: SleepOptions | Decide<Input, Wait>): this
    /** Waits for a signal, and gives its payload. */
    signal(name: string, options?: SignalOptions): this
    /** Runs another workflow in place. It is given the same input, unless `input` makes another. */
    workflow(
        workflow: WorkflowLike | WorkflowReference | string,
        options?: { name?: string; input?: Decide<Input, unknown> },
    ): this
}

/** A parallel block in the making. Methods of the builder around it close it. */
export type ParallelBlock<Input, Around> = Omit<Around, 'branch'> & {
    /** Adds a branch: a pipeline of any nodes. */
    branch(name: string, fill: ((block: Block<Input>) => unknown) | readonly Step<Input>[]): ParallelBlock<Input, Around>
    /** Closes the block; a choice follows. */
    branch(options: BranchOptions<Input>): Around
    join(join: Join): ParallelBlock<Input, Around>
    onFailure(what: 'fail' | 'collect'): ParallelBlock<Input, Around>
    /** Makes the block's result of what the branches gave. */
    finally(fn: (context: FinallyContext<Input, any>) => unknown): ParallelBlock<Input, Around>
}

/** What a trigger does. The refs in it are those of workflow documents. */
export interface TriggerOptions {
    /**
     * What the workflow is given: JSON, in which `'@output.path'` is what the run gave, `'@input.path'` what it was given, and with
     * `forEach` `'@item.path'` and `'@index'`. `'Hello @{output.name}'` puts a value into a text, and a text that begins with `@`
     * begins with `@@`. If a value is not there, the trigger is skipped.
     */
    inputs?: { readonly [field: string]: unknown }
    /** A ref to a list, such as `'@output.items'`: one run for each item. */
    forEach?: string
    /** The timeout of the runs that it starts. */
    timeout?: Duration
    /** How often a run that it started, and that fails, is started again by itself. */
    maxRetries?: number
}

/** A workflow that a completed run starts: `export const triggers: Trigger[] = [{ workflow: 'ship', inputs: { id: '@output.id' } }]`. */
export interface Trigger extends TriggerOptions {
    workflow: string | WorkflowLike
}

/** A workflow in the making. */
export interface Workflow<Input = any> extends Block<Input> {
    readonly name: string
    /** What the input must be. It is checked before a run begins, and forms are made of it. */
    input<S extends Schema>(schema: S): Workflow<Infer<S>>
    /** One line for people. */
    description(text: string): this
    /** Called once when a run fails. */
    onError(handler: ErrorHandler<Input>): this
    /** Of a whole run. */
    timeout(duration: Duration): this
    /** How often a failed run is started again by itself, from the failed step. */
    maxRetries(count: number): this
    /** Starts another workflow whenever a run has completed. */
    trigger(workflow: string | WorkflowLike, options?: TriggerOptions): this
    /** Makes it known to the engine. Workflows that a file exports are known anyway. */
    register(): this
    build(): this
}

/** Begins a workflow. */
export function createWorkflow(name: string): Workflow<any>

/** Registers all workflow files of a folder; the path is relative to this file. */
export function registerWorkflowsFromDirectory(path: string): void
/** Registers a workflow file; the path is relative to this file. */
export function registerWorkflowFile(path: string): void

// ---------------------------------------------------------------------------------------------------------------------
// Results
// ---------------------------------------------------------------------------------------------------------------------

/** The `steps` of a context, with what each step returns. */
export type StepsOf<Types> = { [Name in keyof Types]: StepEntry<Types[Name]> }

export interface ResultsOf<Types, Schemas> {
    /** The type of `steps`: `({ steps }: { steps: typeof results.Steps })`. There is no such value. */
    readonly Steps: StepsOf<Types>
    /** The schemas that it was made of. */
    readonly schemas: Schemas
}

/**
 * What steps return, by name. Exported as `results`, with schemas, each step's result is checked when it returns; one
 * that does not match fails the step with the code `invalid_result`.
 */
export function Results<Schemas extends Record<string, Schema>>(
    schemas: Schemas,
): ResultsOf<{ [Name in keyof Schemas]: Infer<Schemas[Name]> }, Schemas>
/** What steps return, as types only: `Results<{ findTree: { id: string } }>()`. */
export function Results<Types extends object>(): ResultsOf<Types, {}>

// ---------------------------------------------------------------------------------------------------------------------
// The registry
// ---------------------------------------------------------------------------------------------------------------------

export interface WorkflowMetadata {
    name: string
    /** JSON Schema of its input. */
    inputSchema: any
    description?: string
    stepCount: number
}

export interface ActiveRun {
    runId: string
    workflow: string
    status: RunStatus
    /** Milliseconds since the Unix epoch. */
    createdAt: number
}

/** A run. */
export interface WorkflowRun {
    readonly runId: string
    /** Everything about it now. */
    getState(): Promise<any>
    cancel(reason?: string): Promise<unknown>
}

/** What can be run, and what runs. All registries are the same one: the engine's. */
export class WorkflowRegistry {
    register(workflow: WorkflowLike): void
    list(): Promise<WorkflowMetadata[]>
    /**
     * Starts a run. Its id is known at once; await it to learn whether it was started. Input that the workflow's schema
     * refuses is an error with zod's `issues`. In a file that is being loaded, runs start when all files are loaded.
     */
    launch(workflow: string | WorkflowLike, input?: unknown): Promise<{ runId: string }> & { runId: string }
    getWorkflow(runId: string): WorkflowRun
    getActiveRuns(workflow?: string | WorkflowLike): Promise<ActiveRun[]>
    cancel(runId: string, reason?: string): Promise<unknown>
}

declare global {
    /** Of the environment, scripts see what the operator allows. */
    var process: { env: Record<string, string | undefined> }
}
