/** Errors that user code cannot catch: they are shown in the log of the call that they happened in. */
import { writeLog } from '../host/log.ts'
import { native } from '../host/native.ts'
import { inspect } from './inspect.ts'

export function reportError(error: unknown): void {
    writeLog(native.current(), 'error', `Uncaught ${inspect(error)}`)
}
