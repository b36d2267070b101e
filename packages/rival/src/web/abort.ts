/** `AbortController` and `AbortSignal`. */
import { DOMException } from './dom_exception.ts'
import { Event, EventTarget } from './events.ts'
import { reportError } from './report.ts'
import { startTimer } from './timers.ts'

export { DOMException } from './dom_exception.ts'

/** Only this file makes signals. */
const MAKE = Symbol()

/** Aborts a signal; scripts cannot. */
let fire: (signal: AbortSignal, reason: unknown) => void

export class AbortSignal extends EventTarget {
    #aborted = false
    #reason: unknown = undefined
    /** Signals made by `any` that follow this one. */
    #followers: AbortSignal[] = []
    onabort: ((event: Event) => unknown) | null = null

    constructor(made?: symbol) {
        super()
        if (made !== MAKE) throw new TypeError('Illegal constructor: use new AbortController().signal')
    }

    get aborted(): boolean {
        return this.#aborted
    }

    get reason(): unknown {
        return this.#reason
    }

    throwIfAborted(): void {
        if (this.#aborted) throw this.#reason
    }

    /** A signal that is aborted already. */
    static abort(reason?: unknown): AbortSignal {
        const signal = new AbortSignal(MAKE)
        fire(signal, reason)
        return signal
    }

    /** A signal that is aborted after some milliseconds. */
    static timeout(ms: number): AbortSignal {
        const signal = new AbortSignal(MAKE)
        const late = () => fire(signal, new DOMException('The operation timed out', 'TimeoutError'))
        startTimer(late, ms)
        return signal
    }

    /** A signal that is aborted as soon as one of these is. */
    static any(signals: Iterable<AbortSignal>): AbortSignal {
        const either = new AbortSignal(MAKE)
        const all = Array.from(signals)
        const first = all.find((signal) => signal.aborted)
        if (first !== undefined) fire(either, first.reason)
        else for (const signal of all) signal.#followers.push(either)
        return either
    }

    static {
        fire = (signal, reason) => {
            if (signal.#aborted) return
            signal.#aborted = true
            signal.#reason = reason ?? new DOMException('This operation was aborted', 'AbortError')
            const event = new Event('abort')
            try {
                signal.onabort?.(event)
            } catch (error) {
                reportError(error)
            }
            signal.dispatchEvent(event)
            for (const follower of signal.#followers) fire(follower, signal.#reason)
            signal.#followers = []
        }
    }

    get [Symbol.toStringTag](): string {
        return 'AbortSignal'
    }
}

export class AbortController {
    readonly signal = new AbortSignal(MAKE)

    abort(reason?: unknown): void {
        fire(this.signal, reason)
    }

    get [Symbol.toStringTag](): string {
        return 'AbortController'
    }
}
