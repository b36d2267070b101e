/** `node:querystring`. */
type Values = Record<string, unknown>

export function escape(text: unknown): string {
    return encodeURIComponent(String(text).toWellFormed())
}

export function unescape(text: string): string {
    try {
        return decodeURIComponent(text)
    } catch {
        return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
            const codes = bytes.slice(1).split('%').map((hex) => Number.parseInt(hex, 16))
            return new (globalThis as any).TextDecoder().decode(Uint8Array.from(codes))
        })
    }
}

interface Options {
    encodeURIComponent?: (text: string) => string
    decodeURIComponent?: (text: string) => string
    maxKeys?: number
}

export function stringify(values?: Values, separator = '&', equals = '=', options: Options = {}): string {
    const encode = options.encodeURIComponent ?? escape
    const pair = (key: string, value: unknown) => encode(key) + equals + encode(plain(value))
    const pairs = Object.entries(values ?? {}).flatMap(([key, value]) =>
        Array.isArray(value) ? value.map((it) => pair(key, it)) : [pair(key, value)])
    return pairs.join(separator)
}

function plain(value: unknown): string {
    const isPlain = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint'
    return isPlain || (typeof value === 'number' && Number.isFinite(value)) ? String(value) : ''
}

export function parse(text?: string, separator = '&', equals = '=', options: Options = {}): Values {
    const values = Object.create(null) as Values
    const decode = options.decodeURIComponent ?? unescape
    const { maxKeys = 1000 } = options
    const pairs = (text ?? '').split(separator).filter((pair) => pair !== '')
    for (const pair of maxKeys > 0 ? pairs.slice(0, maxKeys) : pairs) {
        const at = pair.indexOf(equals)
        const [key, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + equals.length)]
        add(values, decode(key.replaceAll('+', ' ')), decode(value.replaceAll('+', ' ')))
    }
    return values
}

function add(values: Values, key: string, value: string): void {
    const known = values[key]
    if (known === undefined) values[key] = value
    else if (Array.isArray(known)) known.push(value)
    else values[key] = [known, value]
}

export { parse as decode, stringify as encode }
export default { decode: parse, encode: stringify, escape, parse, stringify, unescape }
