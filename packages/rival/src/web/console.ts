/** `console`: lines for the log of the running call. */
import { type Level, writeLog } from '../host/log.ts'
import { native } from '../host/native.ts'
import { framesOf } from '../host/stack.ts'
import { format, inspect, stackText } from './inspect.ts'
import { table } from './table.ts'

const counts = new Map<string, number>()
const times = new Map<string, number>()
/** Spaces that `group` puts before each line. */
let indent = ''

function write(level: Level, text: string): void {
    writeLog(native.current(), level, indent === '' ? text : indent + text.replaceAll('\n', `\n${indent}`))
}

const writer = (level: Level) => (...values: unknown[]) => write(level, format(values))

function elapsed(label: string): string | null {
    const start = times.get(label)
    if (start === undefined) return null
    return `${label}: ${Number((native.now() - start).toFixed(3))}ms`
}

const group = (...values: unknown[]) => {
    if (values.length > 0) write('info', format(values))
    indent += '  '
}

export const console = {
    log: writer('info'),
    info: writer('info'),
    debug: writer('debug'),
    warn: writer('warn'),
    error: writer('error'),

    trace(...values: unknown[]): void {
        write('info', `Trace: ${format(values)}\n${stackText(framesOf(new Error()))}`)
    },

    assert(condition: unknown, ...values: unknown[]): void {
        if (condition) return
        write('error', values.length === 0 ? 'Assertion failed' : `Assertion failed: ${format(values)}`)
    },

    dir(value: unknown, options?: { depth?: number | null }): void {
        write('info', inspect(value, options?.depth === null ? Infinity : options?.depth))
    },

    dirxml: writer('info'),

    table(data: unknown, columns?: string[]): void {
        write('info', table(data, columns) ?? format([data]))
    },

    count(label: unknown = 'default'): void {
        const name = String(label)
        const count = (counts.get(name) ?? 0) + 1
        counts.set(name, count)
        write('info', `${name}: ${count}`)
    },

    countReset(label: unknown = 'default'): void {
        counts.delete(String(label))
    },

    time(label: unknown = 'default'): void {
        times.set(String(label), native.now())
    },

    timeLog(label: unknown = 'default', ...values: unknown[]): void {
        const text = elapsed(String(label))
        if (text === null) write('warn', `No such label '${String(label)}' for console.timeLog()`)
        else write('info', format([text, ...values]))
    },

    timeEnd(label: unknown = 'default'): void {
        const name = String(label)
        const text = elapsed(name)
        if (text === null) write('warn', `No such label '${name}' for console.timeEnd()`)
        else write('info', text)
        times.delete(name)
    },

    group,
    groupCollapsed: group,

    groupEnd(): void {
        indent = indent.slice(2)
    },

    clear(): void {},
}
