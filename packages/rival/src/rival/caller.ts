/** Who called us, read from the stack: files are named relative to the module that names them. */
import { realm } from '../realm.ts'
import { refuse } from './refuse.ts'

/** The name of the user's module that is being run; undefined if there is none. */
export function callerModule(): string | undefined {
    for (const line of realm().framesOf(new Error()).split('\n')) {
        const name = /(?:\(|at )([^()]+?):\d+(?::\d+)?\)?$/.exec(line.trim())?.[1]
        if (name !== undefined && realm().native.source(name) !== null) return name
    }
    return undefined
}

/** The same, where it must be known. */
export function needCaller(what: string): string {
    return callerModule() ?? refuse(`${what} can only be used in a workflow file`)
}

/** A path relative to a module's folder, as an absolute one. */
export function pathFrom(module: string, relative: string): string {
    if (relative.startsWith('/')) return relative
    const parts = module.split('/').slice(0, -1)
    for (const part of relative.split('/')) {
        if (part === '..') parts.pop()
        else if (part !== '.' && part !== '') parts.push(part)
    }
    return parts.join('/')
}
