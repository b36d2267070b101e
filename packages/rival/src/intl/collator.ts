/**
 * `Intl.Collator`, the same for all languages: letters first, then accents, then case. Languages with an order of their own (å after z)
 * are not told apart.
 */
interface CollatorOptions {
    sensitivity?: 'base' | 'accent' | 'case' | 'variant'
    numeric?: boolean
    ignorePunctuation?: boolean
}

export class Collator {
    readonly #options: CollatorOptions
    readonly compare: (a: string, b: string) => number

    constructor(_locales?: unknown, options: CollatorOptions = {}) {
        this.#options = { sensitivity: 'variant', numeric: false, ignorePunctuation: false, ...options }
        this.compare = (a, b) => compare(String(a), String(b), this.#options)
    }

    resolvedOptions(): object {
        return { locale: 'en', usage: 'sort', collation: 'default', caseFirst: 'false', ...this.#options }
    }

    static supportedLocalesOf(locales: string | string[]): string[] {
        return Array.isArray(locales) ? locales : [locales]
    }
}

function compare(a: string, b: string, options: CollatorOptions): number {
    const accented = (text: string) => (options.ignorePunctuation ? text.replace(/[\p{P}\s]/gu, '') : text).normalize('NFKD')
    const [left, right] = [accented(a), accented(b)]
    const bare = (text: string) => text.replace(/\p{M}/gu, '')
    const byLetter = order(bare(left).toLowerCase(), bare(right).toLowerCase(), options.numeric === true)
    if (byLetter !== 0 || options.sensitivity === 'base') return byLetter
    const byAccent = options.sensitivity === 'case' ? 0 : order(left.toLowerCase(), right.toLowerCase(), false)
    if (byAccent !== 0 || options.sensitivity === 'accent') return byAccent
    // Small letters come first.
    return -order(bare(left), bare(right), false)
}

function order(a: string, b: string, isNumeric: boolean): number {
    if (!isNumeric) return rank(a, b)
    const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []]
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
        const [x, y] = [left[at] as string, right[at] as string]
        const found = /\d/.test(x) && /\d/.test(y) ? Math.sign(Number(x) - Number(y)) : rank(x, y)
        if (found !== 0) return found
    }
    return Math.sign(left.length - right.length)
}

/** Spaces and signs come before digits, and these before letters. */
function rank(a: string, b: string): number {
    const classOf = (char: string) => (/\p{L}/u.test(char) ? 2 : /\p{N}/u.test(char) ? 1 : 0)
    const [left, right] = [[...a], [...b]]
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
        const [x, y] = [left[at] as string, right[at] as string]
        if (x !== y) return Math.sign(classOf(x) - classOf(y)) || (x < y ? -1 : 1)
    }
    return Math.sign(left.length - right.length)
}
