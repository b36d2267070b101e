/**
 * `Intl`: polyfills of FormatJS, evaluated when a script first asks for a locale or a time zone. The data of a language is
 * evaluated when one asks for that language; time zones are those that Rust brings along.
 */
// @ts-nocheck The polyfills have types only for others that use them.
import { DateTimeFormat } from '@formatjs/intl-datetimeformat'
import { getCanonicalLocales } from '@formatjs/intl-getcanonicallocales'
import ListFormat from '@formatjs/intl-listformat'
import { Locale } from '@formatjs/intl-locale'
import { NumberFormat } from '@formatjs/intl-numberformat'
import { PluralRules } from '@formatjs/intl-pluralrules'
import RelativeTimeFormat from '@formatjs/intl-relativetimeformat'
import { realm } from '../realm.ts'
import { Collator } from './collator.ts'
import { LOCALES } from './locales.ts'
import { Intl as target } from './target.ts'

/** Languages whose data is there. */
const loaded = new Set<string>()

function load(locale: string): void {
    if (loaded.has(locale)) return
    loaded.add(locale)
    realm().native.namespace(`rival:intl:${locale}`).default(target)
}

/** Evaluates the data of what a script asks for: of a region if there is some, and of the language. */
function need(locales: unknown): void {
    for (const given of locales === undefined ? [] : Array.isArray(locales) ? locales : [locales]) {
        const [language, ...rest] = String(given).replace('_', '-').split('-')
        const lower = language.toLowerCase() === 'no' ? 'nb' : language.toLowerCase()
        const region = rest.find((part) => /^[a-z]{2}$/i.test(part))
        for (const locale of [`${lower}-${region?.toUpperCase()}`, lower]) if (LOCALES.includes(locale)) load(locale)
    }
}

/** A constructor that has the data when it needs it. */
function prepared(constructor: any): any {
    return new Proxy(constructor, {
        construct(of, args, newTarget) {
            need(args[0])
            return Reflect.construct(of, args, newTarget)
        },
        apply(of, _, args) {
            need(args[0])
            return new of(...args)
        },
        get(of, name, receiver) {
            if (name !== 'supportedLocalesOf') return Reflect.get(of, name, receiver)
            return (locales: unknown, options: unknown) => {
                need(locales)
                return of.supportedLocalesOf(locales, options)
            }
        },
    })
}

/** The zones by name; when their offset changed is asked for when it matters. */
function zones(): object {
    const { native } = realm()
    const all = {}
    for (const name of native.zones()) {
        let known: unknown
        Object.defineProperty(all, name, { enumerable: true, get: () => (known ??= changes(native.zone(name))) })
    }
    return all
}

/** As the polyfill has them: since when, a name that nothing reads, seconds, whether it is summer time. */
function changes(numbers: Float64Array): unknown[] {
    const list = []
    for (let at = 0; at < numbers.length; at += 3) list.push([numbers[at], '', numbers[at + 1], numbers[at + 2] === 1])
    return list
}

const plain = { DateTimeFormat, ListFormat, NumberFormat, PluralRules, RelativeTimeFormat }
Object.assign(target, plain, { Collator, Locale, getCanonicalLocales })
DateTimeFormat.tzData = zones()
DateTimeFormat.__setDefaultTimeZone?.('UTC')
load('en')

const Intl = { Collator, Locale, getCanonicalLocales }
for (const [name, constructor] of Object.entries(plain)) Intl[name] = prepared(constructor)
Intl.supportedValuesOf = (key: string) => {
    if (key === 'timeZone') return realm().native.zones()
    throw new RangeError(`supportedValuesOf knows 'timeZone' only, not '${key}'`)
}
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl' })

/** `toLocaleString` of dates and numbers. */
export function dateText(date: Date, locales: unknown, options: any, defaults: object): string {
    if (Number.isNaN(date.getTime())) return 'Invalid Date'
    return new Intl.DateTimeFormat(locales, wanted(options) ? options : { ...defaults, ...options }).format(date)
}

/** Whether the options say what is to be shown. */
function wanted(options: any): boolean {
    const names = ['weekday', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'dateStyle', 'timeStyle']
    return options !== undefined && names.some((name) => options[name] !== undefined)
}

export function numberText(value: number, locales: unknown, options: unknown): string {
    return new Intl.NumberFormat(locales, options).format(value)
}

export default Intl
