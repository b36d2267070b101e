/**
 * Tests of workflows, for `rival test`: the real engine in memory, on a clock that jumps. Time stands still while steps
 * are at work, and passes while the test waits; `Date` and timers in steps, mocks and tests go by it.
 */
import type { Duration, DurationParts, RunStatus, StepContext, StepEntry, StepStatus, WorkflowLike } from 'rival'

/** Adds a test. It passes if the function neither throws nor rejects. */
export function test(name: string, fn: () => unknown): void
/** Puts a name before those of the tests inside. */
export function describe(name: string, fill: () => void): void

/** What JSON can hold, and therefore what steps can give. */
export type JsonValue = object | string | number | boolean | null

/**
 * What stands in for a step or a child: what it gives, or a function that is called instead. What that throws, the step
 * fails with. For a child, `input` is what the child was started with.
 */
export type Mock = JsonValue | ((context: StepContext<any, any>) => unknown)

/** What stands in for something that is done once: what it gives, or a function that is called instead. */
export type OnceMock = JsonValue | (() => unknown)

/** What a request is answered with: a response, a text, or what becomes its JSON. */
export type FetchAnswer = Response | JsonValue

/**
 * How requests of steps are answered.
 *
 * - By URL: `{ 'https://api.example/users': [{ id: 1 }] }`. The first key that fits counts. `*` stands for any text, a method
 *   can come first (`'POST https://api.example/*'`), and a URL without a query takes all queries.
 * - By a function for all of them; `undefined` means that it has no answer.
 * - `'real'`: they are sent.
 *
 * A request that has no answer fails, and the test's output says so.
 */
export type FetchMocks =
    | { readonly [url: string]: FetchAnswer | ((request: Request) => FetchAnswer | Promise<FetchAnswer>) }
    | ((request: Request) => FetchAnswer | undefined | Promise<FetchAnswer | undefined>)
    | 'real'

/** A signal that a test sends. */
export interface PlannedSignal {
    name: string
    payload?: unknown
    /** How long after the start of the run; at once unless told otherwise. It is not sent to a run that has ended. */
    after?: Duration
}

export interface RunOptions {
    /** Which workflow, if the file has several. */
    workflow?: string
    input?: unknown
    /** Other workflows that the run needs, such as its children: files or what `createWorkflow(..)` made. */
    workflows?: readonly (string | WorkflowLike)[]
    /**
     * What stands in for steps, of children too: by name, or by the end of their path if a name is not enough, as in
     * `'invoice/send'` for the step `send` of the workflow `invoice`.
     */
    mocks?: { readonly [step: string]: Mock }
    /**
     * What stands in for workflows that `durable.run`, `durable.map` and triggers start, by name. A workflow that a trigger starts
     * and that the test has not brought does nothing.
     */
    children?: { readonly [workflow: string]: Mock }
    /** What stands in for what steps do with `durable.once`, by name. */
    once?: { readonly [name: string]: OnceMock }
    /** How requests are answered that steps send with `fetch` and `httpStep`. */
    fetch?: FetchMocks
    /** Signals that are sent to the run. */
    signals?: readonly PlannedSignal[]
}

/** Where a step stands that is, or was, to be taken back. */
export type UndoStatus = 'undoing' | 'undone' | 'not_undone'

/** What became of a step, wherever it is. */
export interface StepReport {
    status: StepStatus
    /** Only if it was, or is to be, taken back. */
    undo?: UndoStatus
    /** How often it was tried. */
    attempts: number
    /** Why it, or its last attempt, failed. */
    error: Failure | null
}

/** What went wrong. */
export interface Failure {
    code: string
    message: string
    /** What the author of the error gave. */
    details?: any
}

/** Where in the files an error was thrown. */
export interface FailureOrigin {
    /** Its class, such as `TypeError`. */
    class?: string
    file?: string
    line?: number
    column?: number
    /** A few lines around it. */
    excerpt?: { line: number; text: string }[]
    stack?: string
}

export interface RunResult<Output = any> {
    runId: string
    workflow: string
    status: RunStatus
    /** `null` unless the run completed. */
    output: Output
    /** What the steps of the outermost block gave, by name. */
    results: { [step: string]: StepEntry & { undo?: UndoStatus } }
    /** All that has begun, also inside of blocks, by path: `'checks/stock/reserve'`, `'packing[2]/pack'`. */
    steps: { [path: string]: StepReport }
    /** Why it failed. */
    error: (Failure & { origin?: FailureOrigin }) | null
    /** Where it failed: the step of the workflow, and the path of the one that failed first, which may be inside of it. */
    failedStep: { stepName: string; path: string } | null
    /** Why it was cancelled. */
    reason: string | null
    /** The run that retries it by itself (`maxRetries`). */
    retriedAs: string | null
    /** The runs that its triggers have started, in their order; of each trigger the first 100. */
    triggered: { workflow: string; runId: string; input: any }[]
    /** What became of its triggers, in their order. Without a value that it needs, a trigger is skipped, and its error says which. */
    triggers: { workflow: string; status: 'triggered' | 'skipped' | 'failed'; error: Failure | null }[]
    /** The steps whose compensation failed, and why. */
    notUndone: { node: string; failure: Failure }[]
    logs: { level: 'debug' | 'info' | 'warn' | 'error'; message: string; stepName?: string; metadata?: any }[]
}

/**
 * Runs a workflow to its end; a sleep of a week takes no time. The workflow is a file, relative to this one, or what
 * `createWorkflow(..)` made, here or in another file. It is rejected if no amount of time will end the run.
 */
export function runWorkflow<Output = any>(
    workflow: string | WorkflowLike,
    options?: RunOptions,
): Promise<RunResult<Output>>

/** Starts a workflow as `runWorkflow` does, and gives the run while it is under way. */
export function startWorkflow<Output = any>(
    workflow: string | WorkflowLike,
    options?: RunOptions,
): Promise<TestRun<Output>>

/** A run that is under way. */
export interface TestRun<Output = any> {
    readonly runId: string
    /** Sends a signal now. */
    signal(name: string, payload?: unknown): Promise<void>
    /** Lets time pass until the run waits for a signal. It is rejected if the run never does. */
    untilWaitingFor(signal: string): Promise<void>
    /** Lets time pass until the run has ended. */
    result(): Promise<RunResult<Output>>
}

/** Lets time pass, in the test and in all runs that it has started: what falls due meanwhile is done, in order. */
export function advance(duration: Duration | DurationParts): Promise<void>

/** Says what must be true of a value. */
export function expect<Value>(value: Value): Expect<void> & {
    /** The same for what a promise gives. */
    resolves: Expect<Promise<void>>
    /** The same for what a promise is rejected with. */
    rejects: Expect<Promise<void>>
}

export interface Expect<Result> extends Matchers<Result> {
    /** The opposite. */
    not: Matchers<Result>
}

export interface Matchers<Result> {
    /** The same value, or the same object. */
    toBe(expected: unknown): Result
    /** Alike in all parts. */
    toEqual(expected: unknown): Result
    /** Alike in the parts that are given. */
    toMatchObject(expected: object): Result
    /** An item of a list, or a part of a text. */
    toContain(item: unknown): Result
    toHaveLength(length: number): Result
    toMatch(pattern: RegExp | string): Result
    toBeTruthy(): Result
    toBeFalsy(): Result
    toBeNull(): Result
    toBeUndefined(): Result
    toBeDefined(): Result
    toBeInstanceOf(kind: abstract new (...args: any[]) => unknown): Result
    toBeGreaterThan(bound: number): Result
    toBeGreaterThanOrEqual(bound: number): Result
    toBeLessThan(bound: number): Result
    toBeLessThanOrEqual(bound: number): Result
    /** Equal up to so many digits after the point; two by default. */
    toBeCloseTo(number: number, digits?: number): Result
    /** A function that throws. The error's message, class or parts can be given. */
    toThrow(expected?: string | RegExp | object): Result
}
