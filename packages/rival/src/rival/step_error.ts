/** `StepError`: an error that says what should happen next. */
import * as read from './options.ts'

const OPTIONS = {
    behavior: read.oneOf('stop', 'continue', 'retry'),
    maxAttempts: read.count,
    backoff: read.oneOf('linear', 'exponential'),
    backoffMs: read.delay,
    code: read.text,
    details: read.anything,
    cause: read.anything,
}

export class StepError extends Error {
    readonly behavior: 'stop' | 'continue' | 'retry'
    readonly maxAttempts?: number
    readonly backoff?: 'linear' | 'exponential'
    readonly backoffMs?: number
    readonly code?: string
    readonly details?: unknown

    constructor(message?: unknown, options: unknown = {}) {
        const read_ = read.readOptions(options, 'StepError', OPTIONS)
        super(message === undefined ? '' : String(message))
        this.name = 'StepError'
        this.behavior = read_.behavior ?? 'stop'
        if (read_.maxAttempts !== undefined) this.maxAttempts = read_.maxAttempts
        if (read_.backoff !== undefined) this.backoff = read_.backoff
        if (read_.backoffMs !== undefined) this.backoffMs = read_.backoffMs
        if (read_.code !== undefined) this.code = read_.code
        if (read_.details !== undefined) this.details = read_.details
        if (read_.cause !== undefined) this.cause = read_.cause
    }
}
