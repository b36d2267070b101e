/** `performance`: a clock that only goes forward. */
import { native } from '../host/native.ts'

export function makePerformance(): object {
    const timeOrigin = Date.now() - native.now()
    return { timeOrigin, now: () => native.now(), toJSON: () => ({ timeOrigin }) }
}
