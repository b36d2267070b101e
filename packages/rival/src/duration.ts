/** How long something takes: `500` (milliseconds), `'5s'`, `'2 minutes'`, `{ hours: 1, minutes: 30 }`. */

const UNITS: Record<string, number> = {
    ms: 1,
    millisecond: 1,
    s: 1_000,
    sec: 1_000,
    second: 1_000,
    m: 60_000,
    min: 60_000,
    minute: 60_000,
    h: 3_600_000,
    hr: 3_600_000,
    hour: 3_600_000,
    d: 86_400_000,
    day: 86_400_000,
    w: 604_800_000,
    week: 604_800_000,
}

const PARTS: Record<string, number> = { ms: 1, seconds: 1_000, minutes: 60_000, hours: 3_600_000 }

/** Milliseconds, from a number or a text. `what` names it in errors. */
export function durationMs(value: unknown, what: string): number {
    if (typeof value === 'number') return whole(value, what)
    if (typeof value === 'string') return whole(parse(value, what), what)
    throw new TypeError(`${what} must be milliseconds or a text such as '5s' or '2 minutes'`)
}

/** Milliseconds, also from `{ seconds: 20 }`. */
export function longWaitMs(value: unknown, what: string): number {
    if (typeof value !== 'object' || value === null) return durationMs(value, what)
    let ms = 0
    let isEmpty = true
    for (const [part, amount] of Object.entries(value)) {
        const unit = PARTS[part]
        if (unit === undefined) throw new TypeError(`${what} has no \`${part}\`: use ms, seconds, minutes or hours`)
        if (typeof amount !== 'number') throw new TypeError(`${what}: \`${part}\` must be a number`)
        ms += amount * unit
        isEmpty = false
    }
    if (isEmpty) throw new TypeError(`${what} does not say how long: use ms, seconds, minutes or hours`)
    return whole(ms, what)
}

function parse(text: string, what: string): number {
    const pattern = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy
    const lower = text.trim().toLowerCase()
    let ms = 0
    let end = 0
    for (let match = pattern.exec(lower); match !== null; match = pattern.exec(lower)) {
        const [, amount = '', unit = ''] = match
        const size = UNITS[unit] ?? UNITS[unit.replace(/s$/, '')]
        if (size === undefined) break
        ms += Number(amount) * size
        end = pattern.lastIndex
    }
    if (end === 0 || end < lower.length) {
        throw new TypeError(`${what}: '${text}' is not a duration; write '500ms', '5s', '2 minutes' or '1h 30m'`)
    }
    return ms
}

function whole(ms: number, what: string): number {
    const rounded = Math.round(ms)
    if (!(rounded >= 0)) throw new TypeError(`${what} must be zero or more milliseconds, not ${ms}`)
    if (rounded > Number.MAX_SAFE_INTEGER) throw new TypeError(`${what} is too long: ${ms} ms; the longest is 285,000 years`)
    return rounded
}
