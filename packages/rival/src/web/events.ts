/** `Event`, `CustomEvent` and `EventTarget`, without a tree to bubble through. */
import { reportError } from './report.ts'

interface EventInit {
    bubbles?: boolean
    cancelable?: boolean
    composed?: boolean
}

export class Event {
    readonly type: string
    readonly bubbles: boolean
    readonly cancelable: boolean
    readonly composed: boolean
    readonly timeStamp: number = Date.now()
    target: EventTarget | null = null
    currentTarget: EventTarget | null = null
    defaultPrevented = false
    /** No listener after this one is told. */
    isStopped = false

    constructor(type: string, init: EventInit = {}) {
        this.type = String(type)
        this.bubbles = Boolean(init.bubbles)
        this.cancelable = Boolean(init.cancelable)
        this.composed = Boolean(init.composed)
        // Not part of the interface that scripts see.
        Object.defineProperty(this, 'isStopped', { enumerable: false })
    }

    preventDefault(): void {
        if (this.cancelable) this.defaultPrevented = true
    }

    stopPropagation(): void {}

    stopImmediatePropagation(): void {
        this.isStopped = true
    }

    get [Symbol.toStringTag](): string {
        return 'Event'
    }
}

export class CustomEvent extends Event {
    readonly detail: unknown

    constructor(type: string, init: EventInit & { detail?: unknown } = {}) {
        super(type, init)
        this.detail = init.detail ?? null
    }
}

type Callback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

interface Listener {
    callback: Callback
    once: boolean
    capture: boolean
    isRemoved: boolean
}

interface ListenerOptions {
    once?: boolean
    capture?: boolean
    signal?: EventTarget & { aborted: boolean }
}

export class EventTarget {
    readonly #listeners = new Map<string, Listener[]>()

    addEventListener(type: string, callback: Callback | null, options?: boolean | ListenerOptions): void {
        if (callback === null || callback === undefined) return
        const { once = false, capture = false, signal } = settings(options)
        if (signal?.aborted) return
        const listeners = this.#listeners.get(type) ?? []
        if (listeners.some((known) => known.callback === callback && known.capture === capture)) return
        // A new list, so that one that is being told does not change.
        this.#listeners.set(type, [...listeners, { callback, once, capture, isRemoved: false }])
        signal?.addEventListener('abort', () => this.removeEventListener(type, callback, options), { once: true })
    }

    removeEventListener(type: string, callback: Callback | null, options?: boolean | ListenerOptions): void {
        const { capture = false } = settings(options)
        const listeners = this.#listeners.get(type) ?? []
        const kept = listeners.filter((known) => {
            const isIt = known.callback === callback && known.capture === capture
            if (isIt) known.isRemoved = true
            return !isIt
        })
        this.#listeners.set(type, kept)
    }

    dispatchEvent(event: Event): boolean {
        event.target = this
        event.currentTarget = this
        for (const listener of this.#listeners.get(event.type) ?? []) {
            if (event.isStopped) break
            if (listener.isRemoved) continue
            if (listener.once) this.removeEventListener(event.type, listener.callback, listener.capture)
            tell(this, listener.callback, event)
        }
        event.currentTarget = null
        return !event.defaultPrevented
    }

    get [Symbol.toStringTag](): string {
        return 'EventTarget'
    }
}

function settings(options: boolean | ListenerOptions | undefined): ListenerOptions {
    return typeof options === 'object' ? options : { capture: options === true }
}

function tell(target: EventTarget, callback: Callback, event: Event): void {
    try {
        if (typeof callback === 'function') callback.call(target, event)
        else callback.handleEvent(event)
    } catch (error) {
        reportError(error)
    }
}
