import { describe, expect, test } from 'rival/test'

const DATE = new Date('2026-07-01T12:34:56Z')

describe('dates', () => {
    test('are shown as languages and time zones have them', () => {
        expect(DATE.toLocaleString()).toBe('7/1/2026, 12:34:56 PM')
        expect(DATE.toLocaleString('en-US', { timeZone: 'America/New_York' })).toBe('7/1/2026, 8:34:56 AM')
        expect(DATE.toLocaleDateString('de')).toBe('1.7.2026')
        expect(DATE.toLocaleTimeString('en-GB')).toBe('12:34:56')
        expect(new Intl.DateTimeFormat('ja-JP', { dateStyle: 'long' }).format(DATE)).toBe('2026年7月1日')
        const german = { dateStyle: 'full', timeZone: 'Europe/Berlin' }
        expect(new Intl.DateTimeFormat('de-DE', german).format(DATE)).toBe('Mittwoch, 1. Juli 2026')
        expect(new Date(Number.NaN).toLocaleString()).toBe('Invalid Date')
    })
    test('of all times have the offset of their time', () => {
        const london = (text) => new Date(text).toLocaleTimeString('en-GB', { timeZone: 'Europe/London' })
        expect([london('2026-03-29T00:59:59Z'), london('2026-03-29T01:00:00Z')]).toEqual(['00:59:59', '02:00:00'])
        expect([london('2050-07-01T12:00:00Z'), london('1700-01-01T12:00:00Z')]).toEqual(['13:00:00', '11:58:45'])
        expect(new Date('2026-01-01T00:00:00Z').toLocaleTimeString('en-GB', { timeZone: 'Asia/Kolkata' })).toBe('05:30:00')
    })
    test('come in parts, and can be read again', () => {
        const options = { hourCycle: 'h23', hour: '2-digit', minute: '2-digit', timeZone: 'Asia/Tokyo' }
        const parts = new Intl.DateTimeFormat('en-US', options).formatToParts(DATE)
        expect(parts.map(({ type, value }) => `${type}=${value}`)).toEqual(['hour=21', 'literal=:', 'minute=34'])
        expect(Date.parse(DATE.toLocaleString('en-US', { timeZone: 'UTC' }))).toBe(DATE.getTime())
    })
    test('are in UTC and in English unless they are asked for in another way', () => {
        const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions()
        expect([locale, timeZone]).toEqual(['en', 'UTC'])
        expect(Intl.DateTimeFormat.supportedLocalesOf(['de', 'xx'])).toEqual(['de'])
    })
    test('of zones that do not exist are refused', () => {
        expect(() => new Intl.DateTimeFormat('en', { timeZone: 'Mars/Base' })).toThrow()
        expect(Intl.supportedValuesOf('timeZone').includes('Europe/Berlin')).toBe(true)
    })
})

test('numbers, plurals, times that have passed, lists', () => {
    expect((1234.5).toLocaleString()).toBe('1,234.5')
    expect(new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format(1234567.891)).toBe('1.234.567,89\u00a0€')
    expect(new Intl.NumberFormat('en', { notation: 'compact' }).format(12345)).toBe('12K')
    expect(['en', 'pl', 'ja'].map((locale) => new Intl.PluralRules(locale).select(3))).toEqual(['other', 'few', 'other'])
    expect(new Intl.PluralRules('en', { type: 'ordinal' }).select(22)).toBe('two')
    expect(new Intl.RelativeTimeFormat('es', { numeric: 'auto' }).format(-1, 'day')).toBe('ayer')
    expect(new Intl.ListFormat('en').format(['a', 'b', 'c'])).toBe('a, b, and c')
})

test('words in order', () => {
    const { compare } = new Intl.Collator('en', { numeric: true })
    expect(['z', 'é', 'e', 'A', 'a', 'a10', 'a9'].sort(compare)).toEqual(['a', 'A', 'a9', 'a10', 'e', 'é', 'z'])
    expect(new Intl.Collator('en', { sensitivity: 'base' }).compare('É', 'e')).toBe(0)
})
