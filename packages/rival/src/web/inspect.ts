/** Values as people read them, much as Node prints them. */
import { framesOf } from '../host/stack.ts'

const DEPTH = 2
const WIDTH = 76
/** Items of a list that share lines. */
const SHORT = 16
const ITEMS_MAX = 100
const TEXT_MAX = 10_000

interface Way {
    /** The objects around the one that is printed. */
    above: object[]
    depth: number
}

/** A value as text. */
export function inspect(value: unknown, depth = DEPTH): string {
    try {
        return show(value, { above: [], depth })
    } catch (error) {
        // A getter that throws, a proxy that was revoked: code that writes a log line must not fail because of it.
        return `[unreadable: ${error instanceof Error ? error.message : 'it throws'}]`
    }
}

/** What `console.log` prints: `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%c` are filled in, the rest follows. */
export function format(values: unknown[]): string {
    const [first, ...rest] = values
    if (typeof first !== 'string') return values.map((value) => plainOrShown(value)).join(' ')
    if (rest.length === 0) return first
    let next = 0
    const filled = first.replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === '%%') return '%'
        if (next >= rest.length) return mark
        return fill(mark, rest[next++])
    })
    return [filled, ...rest.slice(next).map(plainOrShown)].join(' ')
}

function plainOrShown(value: unknown): string {
    return typeof value === 'string' ? value : inspect(value)
}

function fill(mark: string, value: unknown): string {
    switch (mark) {
        case '%s':
            return typeof value === 'object' && value !== null ? inspect(value, 0) : plainOrShown(value)
        case '%d':
            return typeof value === 'bigint' ? `${value}n` : typeof value === 'object' ? 'NaN' : String(Number(value))
        case '%i':
            return typeof value === 'bigint' ? `${value}n` : String(Number.parseInt(String(value), 10))
        case '%f':
            return String(Number.parseFloat(String(value)))
        case '%j':
            return jsonText(value)
        case '%o':
            return inspect(value, 4)
        case '%O':
            return inspect(value)
        default:
            return ''
    }
}

function jsonText(value: unknown): string {
    try {
        return JSON.stringify(value) ?? 'undefined'
    } catch {
        return '[Circular]'
    }
}

function show(value: unknown, way: Way): string {
    switch (typeof value) {
        case 'string':
            return quote(value)
        case 'number':
            return Object.is(value, -0) ? '-0' : String(value)
        case 'bigint':
            return `${value}n`
        case 'symbol':
            return value.toString()
        case 'function':
            return functionText(value)
        case 'object':
            return value === null ? 'null' : showObject(value, way)
        default:
            return String(value)
    }
}

function quote(text: string): string {
    const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}… ${text.length - TEXT_MAX} more characters` : text
    const mark = !cut.includes("'") ? "'" : !cut.includes('"') ? '"' : !cut.includes('`') ? '`' : "'"
    const inner = JSON.stringify(cut).slice(1, -1).replaceAll('\\"', '"')
    return mark + (mark === "'" ? inner.replaceAll("'", "\\'") : inner) + mark
}

function functionText(value: Function): string {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value))
    const name = value.name === '' ? '(anonymous)' : value.name
    if (isClass) return `[class ${name}]`
    const kind = value.constructor?.name ?? 'Function'
    return value.name === '' ? `[${kind} (anonymous)]` : `[${kind}: ${name}]`
}

function showObject(value: object, way: Way): string {
    if (way.above.includes(value)) return '[Circular *]'
    const leaf = leafText(value, way)
    if (leaf !== null) return leaf
    const name = nameOf(value)
    if (way.depth < 0) return Array.isArray(value) ? '[Array]' : `[${name === '' ? 'Object' : name}]`
    const inside: Way = { above: [...way.above, value], depth: way.depth - 1 }
    return showParts(value, name, inside)
}

/** What is one word, whatever is inside. */
function leafText(value: object, way: Way): string | null {
    if (value instanceof Error) return errorText(value, way)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (value instanceof Promise) return 'Promise { … }'
    if (value instanceof WeakMap || value instanceof WeakSet) return `${nameOf(value)} { … }`
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
        return `[${value.constructor.name}: ${show(value.valueOf(), way)}]`
    }
    return null
}

function errorText(error: Error, way: Way): string {
    const head = error.name === '' ? error.message : error.message === '' ? error.name : `${error.name}: ${error.message}`
    const stack = stackText(framesOf(error))
    let text = stack === '' ? head : stack.startsWith(head) ? stack : `${head}\n${stack}`
    if (way.depth < 0 || way.above.includes(error)) return way.depth < 0 ? `[${head}]` : text
    const inside: Way = { above: [...way.above, error], depth: way.depth - 1 }
    const own = Object.keys(error).filter((key) => key !== 'name' && key !== 'message' && key !== 'stack')
    const parts = own.map((key) => property(error, key, inside))
    if (error.cause !== undefined && !own.includes('cause')) parts.push(`[cause]: ${show(error.cause, inside)}`)
    if (error instanceof AggregateError) parts.push(`[errors]: ${show(error.errors, inside)}`)
    if (parts.length > 0) text += ` ${braces('{', parts, '}')}`
    return text
}

/** A stack without the frames that are not the user's. */
export function stackText(stack: string): string {
    return stack.replace(/^ *at .*\b(?:rival:prelude|rival|rival\/test|zod(?::[\w./:-]+)?):\d+:\d+\)?\n?/gm, '').trimEnd()
}

function nameOf(value: object): string {
    const prototype = Object.getPrototypeOf(value)
    if (prototype === null) return '[Object: null prototype]'
    if (prototype === Object.prototype) return ''
    const name = prototype.constructor?.name
    return typeof name === 'string' ? name : ''
}

function showParts(value: object, name: string, way: Way): string {
    if (Array.isArray(value)) return braces('[', arrayParts(value, way), ']')
    if (value instanceof Map) {
        const parts = Array.from(value, ([key, item]) => `${show(key, way)} => ${show(item, way)}`)
        return `Map(${value.size}) ${braces('{', cut(parts), '}')}`
    }
    if (value instanceof Set) {
        const parts = Array.from(value, (item) => show(item, way))
        return `Set(${value.size}) ${braces('{', cut(parts), '}')}`
    }
    if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
        const items = Array.from(value as unknown as ArrayLike<number>, (item) => show(item, way))
        return `${name}(${items.length}) ${braces('[', cut(items), ']')}`
    }
    const parts = ownKeys(value).map((key) => property(value, key, way))
    return `${name === '' ? '' : `${name} `}${braces('{', parts, '}')}`
}

function arrayParts(value: unknown[], way: Way): string[] {
    const parts: string[] = []
    let holes = 0
    const endHoles = () => {
        if (holes > 0) parts.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`)
        holes = 0
    }
    const count = Math.min(value.length, ITEMS_MAX)
    for (let index = 0; index < count; index++) {
        if (index in value) {
            endHoles()
            parts.push(show(value[index], way))
        } else {
            holes++
        }
    }
    endHoles()
    if (value.length > count) parts.push(`... ${value.length - count} more items`)
    const others = Object.keys(value).filter((key) => !/^\d+$/.test(key))
    return [...parts, ...others.map((key) => property(value, key, way))]
}

function cut(parts: string[]): string[] {
    if (parts.length <= ITEMS_MAX) return parts
    return [...parts.slice(0, ITEMS_MAX), `... ${parts.length - ITEMS_MAX} more items`]
}

function ownKeys(value: object): PropertyKey[] {
    const symbols = Object.getOwnPropertySymbols(value).filter((key) =>
        Object.prototype.propertyIsEnumerable.call(value, key),
    )
    return [...Object.keys(value), ...symbols]
}

function property(value: object, key: PropertyKey, way: Way): string {
    const name = typeof key === 'symbol' ? `[${key.toString()}]` : keyText(String(key))
    const found = Object.getOwnPropertyDescriptor(value, key)
    if (found?.get !== undefined) return `${name}: [Getter${found.set === undefined ? '' : '/Setter'}]`
    return `${name}: ${show(found?.value, way)}`
}

function keyText(key: string): string {
    return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
}

/** On one line if it fits. */
function braces(open: string, parts: string[], close: string): string {
    if (parts.length === 0) return open + close
    const line = `${open} ${parts.join(', ')} ${close}`
    if (line.length <= WIDTH && !line.includes('\n')) return line
    const lines = open === '[' ? filled(parts) : parts
    return `${open}\n${lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`).join(',\n')}\n${close}`
}

/** Many short items share lines. */
function filled(parts: string[]): string[] {
    if (parts.length <= 6 || parts.some((part) => part.length > SHORT)) return parts
    const lines: string[] = []
    for (const part of parts) {
        const last = lines[lines.length - 1]
        if (last !== undefined && last.length + part.length + 2 <= WIDTH) lines[lines.length - 1] = `${last}, ${part}`
        else lines.push(part)
    }
    return lines
}
