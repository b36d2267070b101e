/** `node:url`: the globals, and the functions that were there before them. */
const web = globalThis as any
export const URL = web.URL
export const URLSearchParams = web.URLSearchParams

interface Parts {
    protocol: string | null
    slashes: boolean | null
    auth: string | null
    host: string | null
    port: string | null
    hostname: string | null
    hash: string | null
    search: string | null
    query: unknown
    pathname: string | null
    path: string | null
    href: string
}

const EMPTY = { protocol: null, slashes: null, auth: null, host: null, port: null, hostname: null }
const PATTERN = /^(?<pathname>[^?#]*)(?<search>\?[^#]*)?(?<hash>#.*)?$/s

export function parse(text: string, asQuery = false): Parts {
    const url = /^[a-z][a-z0-9+.-]*:/i.test(text) ? URL.parse?.(text) ?? tried(text) : null
    const groups = PATTERN.exec(text)?.groups ?? {}
    const { pathname, search, hash } = url ?? { pathname: groups.pathname, search: groups.search ?? '', hash: groups.hash ?? '' }
    const auth = url?.username ? decodeURIComponent(url.username) + (url.password ? `:${decodeURIComponent(url.password)}` : '') : null
    const origin = url === null ? EMPTY : {
        protocol: url.protocol, slashes: text.startsWith(`${url.protocol}//`), auth,
        host: url.host || null, port: url.port || null, hostname: url.hostname || null,
    }
    const query = asQuery ? Object.fromEntries(new URLSearchParams(search)) : search ? search.slice(1) : null
    const path = (pathname ?? '') + search || null
    return { ...origin, hash: hash || null, search: search || null, query, pathname: pathname || null, path, href: url?.href ?? text }
}

function tried(text: string): any {
    try {
        return new URL(text)
    } catch {
        return null
    }
}

export function format(given: any): string {
    if (typeof given === 'string') return given
    if (given instanceof URL) return given.href
    const query = given.query && typeof given.query === 'object' ? String(new URLSearchParams(given.query)) : ''
    const search = given.search ?? (query === '' ? '' : `?${query}`)
    const protocol = given.protocol ? given.protocol.replace(/:?$/, ':') : ''
    const host = given.host ?? (given.hostname ? given.hostname + (given.port ? `:${given.port}` : '') : '')
    const slashes = given.slashes || (host && /^(https?|ftp|file|wss?):?$/.test(given.protocol ?? '')) ? '//' : ''
    const auth = given.auth ? `${encodeURIComponent(given.auth).replace('%3A', ':')}@` : ''
    const pathname = given.pathname ?? ''
    const gap = host && pathname && !pathname.startsWith('/') ? '/' : ''
    return protocol + slashes + (host ? auth + host : '') + gap + pathname + search + (given.hash ?? '')
}

export function resolve(from: string, to: string): string {
    const base = new URL(from, 'resolve://x/')
    const url = new URL(to, base)
    return url.protocol === 'resolve:' ? url.pathname + url.search + url.hash : url.href
}

export function fileURLToPath(url: any): string {
    return decodeURIComponent(new URL(url).pathname)
}
export function pathToFileURL(path: string): unknown {
    return new URL(`file://${path.split('/').map(encodeURIComponent).join('/')}`)
}
export function domainToASCII(domain: string): string {
    return tried(`http://${domain}`)?.hostname ?? ''
}
export const domainToUnicode = domainToASCII
export function urlToHttpOptions(url: any): object {
    const { protocol, hostname, hash, search, pathname, href, port } = url
    return { protocol, hostname, hash, search, pathname, path: pathname + search, href, ...(port ? { port: Number(port) } : {}) }
}
export default { URL, URLSearchParams, domainToASCII, domainToUnicode, fileURLToPath, format, parse, pathToFileURL, resolve, urlToHttpOptions }
