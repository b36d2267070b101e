/** What the host's Rust gives to the JavaScript of a realm, and the frames that go through it. */

/** Functions that only Rust can do. */
export interface Native {
    /** Writes a frame to the parent. */
    send(text: string): void
    /** Writes an `op` frame and blocks until its answer is there; gives the answer's text. */
    ask(text: string): string
    /** Completes `op` after some milliseconds, for a call or, if that is 0, for the file. */
    timer(op: number, owner: number, ms: number): void
    /** Sends a request, completes `op` with the answer. */
    fetch(op: number, owner: number, request: string, body: Uint8Array | null): void
    /** Gives up a timer or request. */
    stop(op: number): void
    /** The call that the running macrotask belongs to; 0 if none. */
    current(): number
    /** Says that the rest of this macrotask belongs to another call. */
    enter(call: number): void
    /** Asks to be told of the end of this turn, also if the call of this turn is over by then. */
    drain(): void
    /** A number for an operation, unique within the host. */
    next(): number
    random(count: number): Uint8Array
    uuid4(): string
    uuid7(): string
    /** A parsed URL; null if it is none. */
    url(input: string, base?: string): UrlParts | null
    /** The same with another part; null if it cannot have that. */
    urlSet(href: string, part: string, value: string): UrlParts | null
    encode(text: string): Uint8Array
    decode(bytes: Uint8Array, label: string, fatal: boolean): string
    /** The SHA-256 of a text, in hexadecimal digits. */
    digest(text: string): string
    /** One part of `crypto.subtle`; throws if it cannot be done. */
    subtle(what: string, kind: string, hash: string, given: Uint8Array[]): Uint8Array
    /** The names of all time zones. */
    zones(): string[]
    /** When the offset of a zone changed: for each time the seconds since 1970, the offset in seconds, 1 if it is summer time. */
    zone(name: string): Float64Array
    /** Milliseconds that only grow. */
    now(): number
    /** In a test: milliseconds since 1970 on the test's clock. Otherwise null. */
    virtualTime(): number | null
    /** What `process.env` shows. */
    env: Record<string, string>
    /** Evaluates a module of the realm. */
    load(name: string): Promise<Record<string, unknown>>
    /** Says that the evaluation of a module begins, or has ended. */
    evaluating(begins: boolean): void
    /** Evaluates a part of zod that few workflow files use. */
    later(name: string): Exports
    /** The function of a CommonJS module of the realm. */
    factory(name: string): CommonFactory
    /** What a module exports that is no CommonJS module, evaluated now if it was not yet. */
    namespace(name: string): Record<string, unknown>
    /** Keeps something for the realms to come. */
    remember(name: string, bytes: Uint8Array): void
    /** What a realm has kept. */
    recall(name: string): Uint8Array | null
    /** What is known of a module of the realm; null if it has none of this name. */
    source(name: string): ModuleSource | null
}

/** What a part of zod exports. */
export type Exports = Record<string, (...args: unknown[]) => unknown>

export interface UrlParts {
    href: string
    origin: string
    protocol: string
    username: string
    password: string
    host: string
    hostname: string
    port: string
    pathname: string
    search: string
    hash: string
}

export interface ModuleSource {
    stepNames: (string | null)[]
    links: Record<string, string>
    commonJs: boolean
}

/** What Node.js makes of a CommonJS module. */
export type CommonFactory = (
    exports: unknown, require: unknown, module: unknown, filename: string, dirname: string,
) => void

/** Why a request failed. */
export interface NativeError {
    name: string
    message: string
    code: string
}

/** What a request was answered with. */
export interface FetchAnswer {
    status: number
    statusText: string
    url: string
    redirected: boolean
    headers: [string, string][]
    body: Uint8Array
}

export type Role =
    | 'step'
    | 'test'
    | 'choose'
    | 'items'
    | 'input'
    | 'wait'
    | 'finally'
    | 'onError'
    | 'compensate'

/** An error as frames have it. */
export interface ErrorShape {
    name: string
    message: string
    stack?: string
    code?: string
    details?: unknown
    behavior?: string
    maxAttempts?: number
    backoff?: string
    backoffMs?: number
}

export interface DescribeFrame {
    id: number
    file: string
    entry: boolean
}

export interface ParseFrame {
    id: number
    file: string
    workflow: string
    input: unknown
}

export interface AbortFrame {
    id: number
    reason: string
    keep: boolean
}

export interface ForgetFrame {
    id: number
}

export interface AnswerFrame {
    id: number
    op: number
    value?: unknown
    error?: ErrorShape
}

/** What the parent says: exactly one of these. */
export interface Frame {
    answer?: AnswerFrame
    abort?: AbortFrame
    forget?: ForgetFrame
    describe?: DescribeFrame
    parse?: ParseFrame
}

/** An earlier step, as others see it. */
export interface StepEntry {
    /** `null` if there is none. */
    result: unknown
    state: Record<string, unknown>
    status: string
}

/** What a call is given. */
export interface Cx {
    input: unknown
    /** Those that the function names; null for one that is not there. */
    steps: Record<string, StepEntry | null>
    last: (StepEntry & { stepName: string }) | null
    loop?: LoopShape
    failure?: FailureShape
    joined?: unknown
    undo?: { result?: unknown; outcome: string }
}

export interface RunShape {
    runId: string | null
    workflow: string
    node: string
    attempt: number
    call: number
    idempotencyKey: string
    traceparent?: string
}

export interface LoopShape {
    index: number
    item?: unknown
    items?: unknown[]
    last?: unknown
}

export interface FailureShape {
    error: { code: string; message: string; details?: unknown; origin?: { class?: string; stack?: string } }
    failedStep: StepEntry & { stepName: string; path: string }
    workflowState: { input: unknown; status: string; runId: string | null; workflowName: string }
}
