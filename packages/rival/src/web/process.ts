/**
 * `process`: its environment, of that only what the operator allows. Beside it, not listed, is what packages use of it
 * without asking whether this is Node.js; it has no versions, by which they tell.
 */
import { native } from '../host/native.ts'
import { queueMicrotask } from './timers.ts'

export function makeProcess(): object {
    // Packages are to be what they are in production, not what helps those who write them.
    const env = hiding({ NODE_ENV: 'production' }, native.env)
    const quiet = () => {}
    const nextTick = (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args))
    const facts = { argv: [], browser: true, platform: 'rival', version: '', versions: {} }
    return hiding({ ...facts, cwd: () => '/', emitWarning: quiet, nextTick, on: quiet, once: quiet, off: quiet }, { env })
}

/** An object with some properties that are not listed. */
function hiding(hidden: Record<string, unknown>, shown: Record<string, unknown>): Record<string, unknown> {
    const all = { ...shown }
    for (const [name, value] of Object.entries(hidden)) {
        if (!(name in all)) Object.defineProperty(all, name, { value, configurable: true, writable: true, enumerable: false })
    }
    return all
}
