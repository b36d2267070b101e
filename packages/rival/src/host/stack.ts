/**
 * Stack traces as authors read them: with the error's name and message first, and with places in their own files.
 *
 * The engine knows only the frames, in generated code. The parent knows the files, and is asked when a stack is read.
 */
import { currentCall } from './call.ts'
import { askNow } from './ops.ts'

const plain = Object.getOwnPropertyDescriptor(Error.prototype, 'stack') as {
    get(this: unknown): unknown
    set(this: unknown, stack: unknown): void
}

/** The frames of an error in generated code, or what a script has put in their place. */
export function framesOf(error: Error): string {
    if (Object.hasOwn(error, 'stack')) return withoutHead(error, String(error.stack))
    const frames = plain.get.call(error)
    return typeof frames === 'string' ? withoutConstructors(error, frames) : ''
}

/** A stack that was put in place begins with the name and the message, as one that is read does. */
function withoutHead(error: Error, stack: string): string {
    const head = headOf(error)
    return stack.startsWith(`${head}\n`) ? stack.slice(head.length + 1) : stack
}

/** The constructors of an error's own classes say where those are, not where the error was made. */
function withoutConstructors(error: Error, frames: string): string {
    const names = new Set<unknown>()
    for (let of = Object.getPrototypeOf(error); of !== null && of !== Error.prototype; of = Object.getPrototypeOf(of)) {
        names.add(of.constructor?.name)
    }
    const lines = frames.split('\n')
    const first = lines.findIndex((line) => !names.has(/^ *at (\S+) \(/.exec(line)?.[1]))
    return first <= 0 ? frames : lines.slice(first).join('\n')
}

/** What Rust reads: nothing of a script runs for it. */
const FRAMES = '[[frames]]'

/** Lets `error.stack` be what authors expect. */
export function installStacks(): void {
    Object.defineProperty(Error.prototype, FRAMES, { get: plain.get, configurable: true, enumerable: false })
    const get = function stack(this: Error): unknown {
        const frames = plain.get.call(this)
        if (typeof frames !== 'string') return frames
        return `${headOf(this)}\n${inSource(withoutConstructors(this, frames))}`.trimEnd()
    }
    Object.defineProperty(Error.prototype, 'stack', { get, set: plain.set, configurable: true, enumerable: false })
}

/** As `Error.prototype.toString` has it. */
function headOf({ name, message }: Error): string {
    return [name, message].map(String).filter((text) => text !== '').join(': ')
}

/** Asks only for a call: while a file is loaded, the parent answers nothing. */
function inSource(frames: string): string {
    const call = currentCall()
    if (call === undefined || call.cx === null || call.isLoading) return frames
    try {
        return askNow(call, 'stack', { stack: frames }) as string
    } catch {
        return frames
    }
}
