/** `Date` in a test: now is what the test's clock says. */
import { native } from '../host/native.ts'

const RealDate = Date

/** Puts it into the place of the real one, if this is a test. */
export function installVirtualDate(): void {
    if (native.virtualTime() === null) return
    // A function rather than a class: `Date()` without `new` is a text.
    const VirtualDate = function (this: unknown, ...given: unknown[]): unknown {
        if (new.target === undefined) return new RealDate(now()).toString()
        return Reflect.construct(RealDate, given.length === 0 ? [now()] : given, new.target)
    }
    for (const key of Reflect.ownKeys(RealDate)) {
        Object.defineProperty(VirtualDate, key, Object.getOwnPropertyDescriptor(RealDate, key) as PropertyDescriptor)
    }
    replace(VirtualDate, 'now', now)
    // The prototype is shared, so that `instanceof` holds for all dates.
    replace(RealDate.prototype, 'constructor', VirtualDate)
    replace(globalThis, 'Date', VirtualDate)
}

function now(): number {
    return native.virtualTime() ?? RealDate.now()
}

function replace(holder: object, key: string, value: unknown): void {
    Object.defineProperty(holder, key, { value, configurable: true, writable: true, enumerable: false })
}
