/** CommonJS modules, which packages still ship: `require`, `module` and `exports`. */
import { native } from './native.ts'

/** As Rust marks what cannot be had; what follows says why. */
const REFUSED = 'rival-refused:'
const EMPTY = 'rival-empty:'

interface CommonModule {
    id: string
    filename: string
    exports: unknown
    loaded: boolean
    children: unknown[]
    paths: string[]
}

type Exports = Record<string, unknown>

/** Those that run or have run. */
const modules = new Map<string, CommonModule>()
/** What ES modules are to `require`. */
const interops = new Map<string, unknown>()

/** The names by which ES modules import from a CommonJS module; it runs if it has not yet. */
export function commonNames(name: string): string[] {
    const exports = required(name)
    const names = new Set<string>()
    if (isObject(exports)) for (const key in exports) if (isName(key)) names.add(key)
    if (typeof exports === 'function') for (const key of Object.keys(exports)) if (isName(key)) names.add(key)
    names.delete('default')
    return ['default', ...names]
}

/** The values of these names. */
export function commonValues(name: string): unknown[] {
    const exports = required(name) as Exports
    const [, ...names] = commonNames(name)
    return [defaultOf(exports), ...names.map((key) => valueOf(exports, key))]
}

/** What was an ES module once says what its default is. */
function defaultOf(exports: Exports): unknown {
    const wasEs = isObject(exports) && exports.__esModule === true && 'default' in exports
    return wasEs ? exports.default : exports
}

/** A name that few use may be computed, and fail here. */
function valueOf(exports: Exports, key: string): unknown {
    try {
        return exports[key]
    } catch {
        return undefined
    }
}

/** What a CommonJS module exports; in a circle, what it exports so far. */
function required(name: string): unknown {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const module: CommonModule = { id: name, filename: name, exports: {}, loaded: false, children: [], paths: [] }
    modules.set(name, module)
    native.evaluating(true)
    try {
        const factory = native.factory(name)
        factory.call(module.exports, module.exports, requireOf(name), module, name, folderOf(name))
        module.loaded = true
    } catch (error) {
        modules.delete(name)
        throw error
    } finally {
        native.evaluating(false)
    }
    return module.exports
}

function requireOf(from: string): unknown {
    let links: Record<string, string> | undefined
    const resolve = (specifier: string): string => {
        links ??= native.source(from)?.links ?? {}
        const found = links[specifier]
        if (found === undefined) throw notFound(`${inPackage(from)}: '${specifier}' is not written as a literal, so it was not found beforehand`)
        if (found.startsWith(REFUSED)) throw notFound(found.slice(REFUSED.length))
        return found
    }
    const require = (specifier: string): unknown => load(resolve(specifier))
    return Object.assign(require, { resolve, cache: {}, extensions: {} })
}

/** A module that is found, for `require`. */
function load(name: string): unknown {
    if (name.startsWith(EMPTY)) return {}
    const source = native.source(name)
    if (source?.commonJs === true) return required(name)
    const known = interops.get(name)
    if (known !== undefined) return known
    const all = native.namespace(name)
    const isPlain = name.startsWith('node:') || name.endsWith('.json')
    const interop = isPlain ? all.default : Object.defineProperty({ ...all }, '__esModule', { value: true })
    interops.set(name, interop)
    return interop
}

/** As in Node.js: packages look for the code where they can do without. */
function notFound(message: string): Error {
    return Object.assign(new Error(`Cannot find module: ${message}`), { code: 'MODULE_NOT_FOUND' })
}

function inPackage(name: string): string {
    const at = name.lastIndexOf('node_modules/')
    return at < 0 ? name : name.slice(at)
}

function folderOf(name: string): string {
    return name.slice(0, name.lastIndexOf('/')) || '/'
}

function isObject(value: unknown): value is Exports {
    return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

function isName(key: string): boolean {
    return NAME.test(key)
}
