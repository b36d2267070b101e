/** What scripts find in the global object. */
import * as abort from './abort.ts'
import { console } from './console.ts'
import { CustomEvent, Event, EventTarget } from './events.ts'
import { reportError } from './report.ts'
import * as timers from './timers.ts'

/** Puts it there. As on other platforms, it can be replaced and is not listed. */
export function installGlobals(): void {
    const values: Record<string, unknown> = {
        AbortController: abort.AbortController,
        AbortSignal: abort.AbortSignal,
        CustomEvent,
        DOMException: abort.DOMException,
        Event,
        EventTarget,
        clearImmediate: timers.clearTimer,
        clearInterval: timers.clearTimer,
        clearTimeout: timers.clearTimer,
        console,
        queueMicrotask: timers.queueMicrotask,
        reportError,
        setImmediate: timers.setImmediate,
        setInterval: timers.setInterval,
        setTimeout: timers.setTimeout,
    }
    for (const [name, value] of Object.entries(values)) {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false })
    }
}
