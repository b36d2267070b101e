/** Tests of workflows, for `rival test`. */
import type { RunStatus, StepContext, StepEntry, WorkflowLike } from 'rival'

/** Adds a test. It passes if the function neither throws nor rejects. */
export function test(name: string, fn: () => unknown): void
/** Puts a name before those of the tests inside. */
export function describe(name: string, fill: () => void): void

/** A function that is called instead of the step, or what the step gives. */
export type Mock = ((context: StepContext<any, any>) => unknown) | object | string | number | boolean | null

export interface RunOptions {
    /** Which workflow, if the file has several. */
    workflow?: string
    input?: unknown
    /** What stands in for steps, by their name. */
    mocks?: Record<string, Mock>
    /** Signals that are sent when the run begins. */
    signals?: { name: string; payload?: unknown }[]
}

export interface RunResult<Output = any> {
    runId: string
    status: RunStatus
    output: Output
    /** What the steps gave, by name. */
    results: Record<string, StepEntry>
    error: { code: string; message: string; details?: any } | null
    failedStep: any
    logs: { level: 'debug' | 'info' | 'warn' | 'error'; message: string; stepName?: string; metadata?: any }[]
}

/**
 * Runs a workflow to its end on the real engine, with a clock that jumps: a sleep of a week takes no time. The workflow
 * is a file, relative to this one, or what `createWorkflow(..)` made.
 */
export function runWorkflow<Output = any>(
    workflow: string | WorkflowLike,
    options?: RunOptions,
): Promise<RunResult<Output>>

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
    /** Equal up to so many digits after the point; two unless told otherwise. */
    toBeCloseTo(number: number, digits?: number): Result
    /** A function that throws. The error's message, class or parts can be given. */
    toThrow(expected?: string | RegExp | object): Result
}
