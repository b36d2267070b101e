/** Streams of the web: `ReadableStream`, `WritableStream`, `TransformStream`, `TextDecoderStream`. */
import { native } from '../host/native.ts'
import { concat } from './bytes.ts'

interface Source {
    start?(controller: ReadableStreamDefaultController): unknown
    pull?(controller: ReadableStreamDefaultController): unknown
    cancel?(reason: unknown): unknown
}

interface Read {
    done: boolean
    value: unknown
}

interface Deferred<T> {
    promise: Promise<T>
    resolve(value: T): void
    reject(reason: unknown): void
}

function deferred<T>(): Deferred<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    // Whether the stream failed is told by what is read, too.
    promise.catch(() => {})
    return { promise, resolve, reject }
}

/** What a stream holds; its reader and its controller work on it. */
class Queue {
    chunks: unknown[] = []
    waiting: Deferred<Read>[] = []
    state: 'readable' | 'closed' | 'errored' = 'readable'
    isClosing = false
    reason: unknown
    isPulling = false
    readonly closed = deferred<undefined>()

    constructor(
        readonly source: Source,
        private readonly most: number,
    ) {}

    controller: ReadableStreamDefaultController | undefined

    get room(): number {
        return this.most - this.chunks.length
    }

    /** Asks the source for more, if there is room or a wish for it. */
    pull(): void {
        const wants = this.waiting.length > 0 || this.room > 0
        if (!wants || this.isPulling || this.isClosing || this.state !== 'readable') return
        if (this.source.pull === undefined) return
        this.isPulling = true
        Promise.resolve()
            .then(() => this.source.pull?.(this.controller as ReadableStreamDefaultController))
            .then(
                () => {
                    const isWanted = this.waiting.length > 0
                    this.isPulling = false
                    if (isWanted) this.pull()
                },
                (error) => this.fail(error),
            )
    }

    put(chunk: unknown): void {
        if (this.isClosing || this.state !== 'readable') throw new TypeError('the stream is closed')
        const reader = this.waiting.shift()
        if (reader === undefined) this.chunks.push(chunk)
        else reader.resolve({ done: false, value: chunk })
        this.pull()
    }

    close(): void {
        if (this.isClosing || this.state !== 'readable') throw new TypeError('the stream is closed')
        this.isClosing = true
        if (this.chunks.length === 0) this.end()
    }

    end(): void {
        this.state = 'closed'
        for (const reader of this.waiting.splice(0)) reader.resolve({ done: true, value: undefined })
        this.closed.resolve(undefined)
    }

    fail(reason: unknown): void {
        if (this.state !== 'readable') return
        this.state = 'errored'
        this.reason = reason
        this.chunks = []
        for (const reader of this.waiting.splice(0)) reader.reject(reason)
        this.closed.reject(reason)
    }

    read(): Promise<Read> {
        if (this.chunks.length > 0) {
            const value = this.chunks.shift()
            if (this.isClosing && this.chunks.length === 0) this.end()
            else this.pull()
            return Promise.resolve({ done: false, value })
        }
        if (this.state === 'closed') return Promise.resolve({ done: true, value: undefined })
        if (this.state === 'errored') return Promise.reject(this.reason)
        const reader = deferred<Read>()
        this.waiting.push(reader)
        this.pull()
        return reader.promise
    }

    async cancel(reason: unknown): Promise<void> {
        if (this.state === 'errored') throw this.reason
        if (this.state === 'closed') return
        this.chunks = []
        this.end()
        await this.source.cancel?.(reason)
    }
}

export class ReadableStreamDefaultController {
    readonly #queue: Queue

    constructor(queue: Queue) {
        this.#queue = queue
    }

    get desiredSize(): number | null {
        return this.#queue.state === 'errored' ? null : this.#queue.room
    }

    enqueue(chunk: unknown): void {
        this.#queue.put(chunk)
    }

    close(): void {
        this.#queue.close()
    }

    error(reason?: unknown): void {
        this.#queue.fail(reason)
    }
}

export class ReadableStreamDefaultReader {
    #stream: ReadableStream | undefined
    readonly #queue: Queue

    constructor(stream: ReadableStream) {
        this.#queue = ReadableStream.lock(stream, this)
        this.#stream = stream
    }

    get closed(): Promise<undefined> {
        return this.#queue.closed.promise
    }

    async read(): Promise<Read> {
        return this.#held().read()
    }

    async cancel(reason?: unknown): Promise<void> {
        await this.#held().cancel(reason)
    }

    releaseLock(): void {
        if (this.#stream === undefined) return
        ReadableStream.unlock(this.#stream)
        this.#stream = undefined
    }

    #held(): Queue {
        if (this.#stream === undefined) throw new TypeError('the reader has let go of its stream')
        ReadableStream.disturb(this.#stream)
        return this.#queue
    }
}

export class ReadableStream {
    readonly #queue: Queue
    #reader: ReadableStreamDefaultReader | undefined
    #isDisturbed = false

    constructor(source: Source = {}, strategy: { highWaterMark?: number } = {}) {
        const queue = new Queue(source, strategy.highWaterMark ?? 1)
        queue.controller = new ReadableStreamDefaultController(queue)
        this.#queue = queue
        const started = source.start?.(queue.controller)
        Promise.resolve(started).then(
            () => queue.pull(),
            (error) => queue.fail(error),
        )
    }

    /** A stream of what can be gone through. */
    static from(items: AsyncIterable<unknown> | Iterable<unknown>): ReadableStream {
        const isAsync = Symbol.asyncIterator in items
        const iterator = isAsync ? items[Symbol.asyncIterator]() : (items as Iterable<unknown>)[Symbol.iterator]()
        return new ReadableStream({
            async pull(controller) {
                const { done, value } = await iterator.next()
                if (done) controller.close()
                else controller.enqueue(await value)
            },
            cancel: (reason) => iterator.return?.(reason),
        })
    }

    static lock(stream: ReadableStream, reader: ReadableStreamDefaultReader): Queue {
        if (stream.#reader !== undefined) throw new TypeError('the stream is locked to a reader')
        stream.#reader = reader
        return stream.#queue
    }

    static unlock(stream: ReadableStream): void {
        stream.#reader = undefined
    }

    static disturb(stream: ReadableStream): void {
        stream.#isDisturbed = true
    }

    /** Whether something was read from it. */
    static isDisturbed(stream: ReadableStream): boolean {
        return stream.#isDisturbed
    }

    get locked(): boolean {
        return this.#reader !== undefined
    }

    getReader(options: { mode?: string } = {}): ReadableStreamDefaultReader {
        if (options.mode !== undefined) throw new TypeError(`there are no readers of the mode '${options.mode}'`)
        return new ReadableStreamDefaultReader(this)
    }

    async cancel(reason?: unknown): Promise<void> {
        if (this.locked) throw new TypeError('the stream is locked to a reader')
        this.#isDisturbed = true
        await this.#queue.cancel(reason)
    }

    /** Two streams of the same chunks. */
    tee(): [ReadableStream, ReadableStream] {
        const reader = this.getReader()
        const controllers: ReadableStreamDefaultController[] = []
        const cancelled = new Set<number>()
        let reading: Promise<void> | undefined
        const pull = () => {
            reading ??= reader.read().then(
                ({ done, value }) => {
                    reading = undefined
                    controllers.forEach((controller, index) => {
                        if (cancelled.has(index)) return
                        if (done) controller.close()
                        else controller.enqueue(value)
                    })
                },
                (error) => controllers.forEach((controller) => controller.error(error)),
            )
            return reading
        }
        const branch = (index: number) =>
            new ReadableStream(
                {
                    start: (controller) => void controllers.push(controller),
                    pull,
                    cancel: (reason) => {
                        cancelled.add(index)
                        return cancelled.size === 2 ? reader.cancel(reason) : undefined
                    },
                },
                { highWaterMark: 0 },
            )
        return [branch(0), branch(1)]
    }

    async pipeTo(target: WritableStream, options: PipeOptions = {}): Promise<void> {
        const reader = this.getReader()
        const writer = target.getWriter()
        try {
            for (;;) {
                options.signal?.throwIfAborted()
                const { done, value } = await reader.read()
                if (done) break
                await writer.write(value)
            }
            if (options.preventClose !== true) await writer.close()
        } catch (error) {
            if (options.preventCancel !== true) await reader.cancel(error).catch(() => {})
            if (options.preventAbort !== true) await writer.abort(error).catch(() => {})
            throw error
        } finally {
            reader.releaseLock()
            writer.releaseLock()
        }
    }

    pipeThrough(through: { readable: ReadableStream; writable: WritableStream }, options?: PipeOptions): ReadableStream {
        this.pipeTo(through.writable, options).catch(() => {})
        return through.readable
    }

    async *values(options: { preventCancel?: boolean } = {}): AsyncGenerator<unknown> {
        const reader = this.getReader()
        let isOver = false
        try {
            for (;;) {
                const { done, value } = await reader.read().catch((error) => {
                    isOver = true
                    throw error
                })
                if (done) {
                    isOver = true
                    return
                }
                yield value
            }
        } finally {
            if (!isOver && options.preventCancel !== true) await reader.cancel()
            reader.releaseLock()
        }
    }

    [Symbol.asyncIterator](): AsyncGenerator<unknown> {
        return this.values()
    }

    get [Symbol.toStringTag](): string {
        return 'ReadableStream'
    }
}

interface PipeOptions {
    preventClose?: boolean
    preventAbort?: boolean
    preventCancel?: boolean
    signal?: { throwIfAborted(): void }
}

interface Sink {
    start?(controller: object): unknown
    write?(chunk: unknown, controller: object): unknown
    close?(): unknown
    abort?(reason: unknown): unknown
}

export class WritableStream {
    readonly #sink: Sink
    #isLocked = false
    #isOver = false
    #failure: { reason: unknown } | undefined
    /** What was written, one after the other. */
    #last: Promise<unknown>
    readonly #controller = { error: (reason: unknown) => void (this.#failure ??= { reason }) }

    constructor(sink: Sink = {}) {
        this.#sink = sink
        this.#last = Promise.resolve(sink.start?.(this.#controller))
    }

    get locked(): boolean {
        return this.#isLocked
    }

    getWriter(): WritableStreamDefaultWriter {
        if (this.#isLocked) throw new TypeError('the stream is locked to a writer')
        this.#isLocked = true
        return new WritableStreamDefaultWriter(this)
    }

    static unlock(stream: WritableStream): void {
        stream.#isLocked = false
    }

    static act(stream: WritableStream, what: (sink: Sink, controller: object) => unknown, ends: boolean): Promise<void> {
        if (stream.#failure !== undefined) return Promise.reject(stream.#failure.reason)
        if (stream.#isOver) return Promise.reject(new TypeError('the stream is closed'))
        stream.#isOver = ends
        const done = stream.#last.then(() => what(stream.#sink, stream.#controller))
        stream.#last = done.catch((reason) => void (stream.#failure ??= { reason }))
        return done.then(() => undefined)
    }

    async close(): Promise<void> {
        await WritableStream.act(this, (sink) => sink.close?.(), true)
    }

    async abort(reason?: unknown): Promise<void> {
        if (this.#isOver || this.#failure !== undefined) return
        this.#failure = { reason }
        await this.#sink.abort?.(reason)
    }

    get [Symbol.toStringTag](): string {
        return 'WritableStream'
    }
}

export class WritableStreamDefaultWriter {
    readonly #stream: WritableStream

    constructor(stream: WritableStream) {
        this.#stream = stream
    }

    get ready(): Promise<void> {
        return Promise.resolve()
    }

    write(chunk: unknown): Promise<void> {
        return WritableStream.act(this.#stream, (sink, controller) => sink.write?.(chunk, controller), false)
    }

    close(): Promise<void> {
        return this.#stream.close()
    }

    abort(reason?: unknown): Promise<void> {
        return this.#stream.abort(reason)
    }

    releaseLock(): void {
        WritableStream.unlock(this.#stream)
    }
}

interface Transformer {
    start?(controller: TransformController): unknown
    transform?(chunk: unknown, controller: TransformController): unknown
    flush?(controller: TransformController): unknown
}

interface TransformController {
    enqueue(chunk: unknown): void
    error(reason?: unknown): void
    terminate(): void
}

export class TransformStream {
    readonly readable: ReadableStream
    readonly writable: WritableStream

    constructor(transformer: Transformer = {}) {
        let out!: ReadableStreamDefaultController
        this.readable = new ReadableStream({ start: (controller) => void (out = controller) }, { highWaterMark: 0 })
        const controller: TransformController = {
            enqueue: (chunk) => out.enqueue(chunk),
            error: (reason) => out.error(reason),
            terminate: () => out.close(),
        }
        const pass = (chunk: unknown) => controller.enqueue(chunk)
        this.writable = new WritableStream({
            start: () => transformer.start?.(controller),
            write: (chunk) => (transformer.transform === undefined ? pass(chunk) : transformer.transform(chunk, controller)),
            close: async () => {
                await transformer.flush?.(controller)
                out.close()
            },
            abort: (reason) => out.error(reason),
        })
    }
}

export class TextDecoderStream extends TransformStream {
    constructor(label = 'utf-8') {
        const decoder = new TextDecoder(label)
        const give = (text: string, controller: TransformController) => {
            if (text !== '') controller.enqueue(text)
        }
        super({
            transform: (chunk, controller) => give(decoder.decode(chunk, { stream: true }), controller),
            flush: (controller) => give(decoder.decode(), controller),
        })
    }
}

/** A stream of bytes that are all there. */
export function streamOf(bytes: Uint8Array): ReadableStream {
    return new ReadableStream(
        {
            pull(controller) {
                if (bytes.length > 0) controller.enqueue(bytes)
                controller.close()
            },
        },
        { highWaterMark: 0 },
    )
}

/** All bytes of a stream. */
export async function bytesOf(stream: ReadableStream): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for await (const chunk of stream) {
        if (typeof chunk === 'string') parts.push(native.encode(chunk))
        else if (chunk instanceof Uint8Array) parts.push(chunk)
        else throw new TypeError('a body is a stream of Uint8Arrays')
    }
    return concat(parts)
}

// What the host has and TypeScript's own library does not.
declare const TextDecoder: any
