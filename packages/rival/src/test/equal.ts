/** Whether values are alike. */

/** Where two values differ first; undefined if nowhere. A property that is `undefined` is as good as none. */
export function difference(a: unknown, b: unknown, isPartial = false): string | undefined {
    return differ(a, b, { isPartial, path: '', pairs: [] })
}

interface Way {
    /** What the second value does not mention may be anything. */
    isPartial: boolean
    path: string
    /** Pairs that are being compared, for values that contain themselves. */
    pairs: [object, object][]
}

function differ(a: unknown, b: unknown, way: Way): string | undefined {
    if (Object.is(a, b)) return undefined
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return way.path
    if (way.pairs.some(([x, y]) => x === a && y === b)) return undefined
    // An error or an instance of a class can be held against a plain object.
    const isSketch = way.isPartial && kindOf(b) === '[object Object]' && !Array.isArray(a)
    if (!isSketch && kindOf(a) !== kindOf(b)) return way.path
    return differInside(a, b, { ...way, pairs: [...way.pairs, [a, b]] })
}

function kindOf(value: object): string {
    return Object.prototype.toString.call(value)
}

function differInside(a: object, b: object, way: Way): string | undefined {
    if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime() ? undefined : way.path
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b) ? undefined : way.path
    if (a instanceof Error && b instanceof Error) {
        return a.name === b.name && a.message === b.message ? undefined : way.path
    }
    if (a instanceof Map && b instanceof Map) return differ([...a], [...b], way)
    if (a instanceof Set && b instanceof Set) return differ([...a], [...b], way)
    if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return `${way.path}.length`
    const left = a as Record<string, unknown>
    const right = b as Record<string, unknown>
    const keys = way.isPartial && !Array.isArray(a) ? Object.keys(b) : new Set([...Object.keys(a), ...Object.keys(b)])
    for (const key of keys) {
        const path = Array.isArray(a) ? `${way.path}[${key}]` : `${way.path}.${key}`
        const found = differ(left[key], right[key], { ...way, path })
        if (found !== undefined) return found
    }
    return undefined
}
