/** What shows dates and numbers in the way of a language or a time zone: `Intl` is evaluated for it. */
import { native } from '../host/native.ts'

const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' }
const TIME = { hour: 'numeric', minute: 'numeric', second: 'numeric' }

export function installLocales(): void {
    const ofDates = { toLocaleString: { ...DATE, ...TIME }, toLocaleDateString: DATE, toLocaleTimeString: TIME }
    for (const [name, defaults] of Object.entries(ofDates)) {
        method(Date.prototype, name, function (this: Date, locales?: unknown, options?: unknown) {
            return intl().dateText(this, locales, options, defaults)
        })
    }
    const numberText = function (this: object, locales?: unknown, options?: unknown) {
        return intl().numberText(this.valueOf(), locales, options)
    }
    method(Number.prototype, 'toLocaleString', numberText)
    method(BigInt.prototype, 'toLocaleString', numberText)
}

function intl(): any {
    return native.namespace('rival:intl')
}

function method(prototype: object, name: string, value: unknown): void {
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true, enumerable: false })
}
