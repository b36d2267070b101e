/** `setTimeout` and its kin. A timer belongs to the call that arms it. */
import { begin, stop } from '../host/ops.ts'
import { native } from '../host/native.ts'
import { reportError } from './report.ts'

/** What browsers and Node allow. */
const MS_MAX = 2_147_483_647

/** As in Node, what a timer function gives is an object that can also be used as a number. */
export class Timer {
    /** The operation that is under way; an interval has one after the other. */
    #op: number
    readonly #id: number

    constructor(op: number) {
        this.#op = op
        this.#id = op
    }

    ref(): this {
        return this
    }

    unref(): this {
        return this
    }

    hasRef(): boolean {
        return true
    }

    [Symbol.toPrimitive](): number {
        return this.#id
    }

    static goOn(timer: Timer, op: number): void {
        timer.#op = op
        intervals.set(timer.#id, timer)
    }

    static clear(timer: Timer): void {
        stop(timer.#op)
        intervals.delete(timer.#id)
    }
}

/** By the number that they were first known by. */
const intervals = new Map<number, Timer>()

/** Calls a function once, after some milliseconds. */
export function startTimer(callback: () => unknown, ms: number): number {
    const begun = begin(() => {
        try {
            callback()
        } catch (error) {
            reportError(error)
        }
    })
    // One that is not begun has a number all the same, and never fires.
    if (begun === null) return native.next()
    native.timer(begun.op, begun.owner, ms)
    return begun.op
}

function delayOf(ms: unknown): number {
    const number = Number(ms)
    return number >= 1 && number <= MS_MAX ? number : 1
}

function checkCallback(callback: unknown): asserts callback is (...args: unknown[]) => unknown {
    if (typeof callback !== 'function') throw new TypeError('a timer needs a function to call')
}

export function setTimeout(callback: unknown, ms?: unknown, ...args: unknown[]): Timer {
    checkCallback(callback)
    return new Timer(startTimer(() => callback(...args), delayOf(ms)))
}

export function setInterval(callback: unknown, ms?: unknown, ...args: unknown[]): Timer {
    checkCallback(callback)
    const again = () => {
        Timer.goOn(timer, startTimer(again, delayOf(ms)))
        callback(...args)
    }
    const op = startTimer(again, delayOf(ms))
    const timer = new Timer(op)
    Timer.goOn(timer, op)
    return timer
}

export function setImmediate(callback: unknown, ...args: unknown[]): Timer {
    checkCallback(callback)
    return new Timer(startTimer(() => callback(...args), 0))
}

/** All kinds of timers are cleared alike; what is no timer is ignored. */
export function clearTimer(timer: unknown): void {
    if (timer instanceof Timer) return Timer.clear(timer)
    const id = Number(timer)
    const interval = intervals.get(id)
    if (interval === undefined) stop(id)
    else Timer.clear(interval)
}

export function queueMicrotask(callback: unknown): void {
    checkCallback(callback)
    Promise.resolve()
        .then(() => callback())
        .catch(reportError)
}
