/** Lines for a call's log: `context.log`, and where `console` writes. */
import { format } from '../web/inspect.ts'
import type { Call } from './call.ts'
import { toJsonLoosely } from './json.ts'
import { native } from './native.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Writes a line to the log of a call; 0 is no call. */
export function writeLog(id: number, level: Level, message: string, fields?: object): void {
    const more = fields === undefined ? '' : `,"fields":${bounded(fields)}`
    native.send(`{"log":{"id":${id},"level":"${level}","message":${JSON.stringify(cut(message))}${more}}}`)
}

/** The longest line, and the most that goes with one: a log is not a store. */
const LENGTH_MAX = 64 * 1024

function cut(text: string): string {
    return text.length <= LENGTH_MAX ? text : `${text.slice(0, LENGTH_MAX)}… (${text.length - LENGTH_MAX} more)`
}

/** Fields as JSON. A log line never fails the step that writes it. */
function bounded(fields: object): string {
    let text
    try {
        text = toJsonLoosely(fields)
    } catch (error) {
        return JSON.stringify({ unreadable: String(error) })
    }
    return text.length <= LENGTH_MAX ? text : JSON.stringify({ cut: text.slice(0, LENGTH_MAX) })
}

/** `log.info(message)`, or `log.info(fields, message)`. */
export function logFor(call: Call): object {
    return new Log(call)
}

class Log {
    // Functions of their own, so that `const { info } = log` works.
    readonly debug
    readonly info
    readonly warn
    readonly error

    constructor(call: Call) {
        const writer = (level: Level) => (...given: unknown[]) => write(call.id, level, given)
        this.debug = writer('debug')
        this.info = writer('info')
        this.warn = writer('warn')
        this.error = writer('error')
    }
}

function write(id: number, level: Level, given: unknown[]): void {
    const [first, ...rest] = given
    if (typeof first !== 'object' || first === null) return writeLog(id, level, format(given))
    const isError = first instanceof Error
    const message = rest.length > 0 ? format(rest) : isError ? first.message : ''
    writeLog(id, level, message, isError ? { err: first } : first)
}
