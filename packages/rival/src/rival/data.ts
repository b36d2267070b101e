/** What a workflow is, whichever way it was written. */
import type { Schema } from '../realm.ts'
import type { Fn } from './options.ts'
import type { Draft } from './part.ts'
import type { TriggerDraft } from './triggers.ts'

export interface WorkflowData {
    name: string
    /** The module that made it. */
    module?: string
    nodes: Draft[]
    description?: string
    schema?: Schema
    onError?: Fn
    timeoutMs?: number
    maxRetries?: number
    /** What its completed runs start. */
    triggers?: TriggerDraft[]
    /** It is what a file exports as `steps`, `input` and so on, rather than what a builder made. */
    isFile?: true
    /** What its steps must return, by id. */
    results?: Map<string, Schema>
}

const known = new WeakMap<object, WorkflowData>()

/** Makes a builder known as one that builds this workflow. */
export function remember(builder: object, data: WorkflowData): void {
    known.set(builder, data)
}

/** The workflow that a value stands for; undefined if it is none. */
export function workflowOf(value: unknown): WorkflowData | undefined {
    return typeof value === 'object' && value !== null ? known.get(value) : undefined
}
