/** `performance`: a clock that only goes forward; in a test, the test's. */
import { native } from '../host/native.ts'

export function makePerformance(): object {
    const begun = native.virtualTime()
    const now = begun === null ? () => native.now() : () => (native.virtualTime() ?? begun) - begun
    const timeOrigin = Date.now() - now()
    return { timeOrigin, now, toJSON: () => ({ timeOrigin }) }
}
