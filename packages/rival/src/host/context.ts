/** What functions are given. Most use little of it, so what costs something is made when it is asked for. */
import type { Role, RunShape } from '../native.ts'
import type { Call } from './call.ts'
import { durableFor } from './durable.ts'
import { toError } from './errors.ts'
import { logFor } from './log.ts'
import { stepsFor } from './steps.ts'

const NO_LAST_STEP = Object.freeze({ result: null, state: Object.freeze({}), stepName: null })

/** The argument of a function that is called for this. */
export function contextFor(call: Call, role: Role): object {
    switch (role) {
        case 'onError':
            return failureFor(call)
        case 'finally':
            return Object.assign(stepContext(call), { result: call.cx.joined })
        case 'compensate':
            return Object.assign(stepContext(call), {
                result: call.cx.undo?.result ?? null,
                outcome: call.cx.undo?.outcome,
            })
        default:
            return stepContext(call)
    }
}

// Its properties are its own and enumerable: `const { steps, ...rest } = context` works.
function stepContext(call: Call) {
    let steps: object | undefined
    let log: object | undefined
    let run: object | undefined
    let durable: object | undefined
    const { cx } = call
    return {
        input: cx.input === null ? undefined : cx.input,
        state: {},
        lastStep: cx.last ?? NO_LAST_STEP,
        loop: cx.loop,
        get steps() {
            return (steps ??= stepsFor(call))
        },
        get log() {
            return (log ??= logFor(call))
        },
        get run() {
            return (run ??= runFor(call))
        },
        get durable() {
            return (durable ??= durableFor(call))
        },
    }
}

function runFor(call: Call) {
    return {
        ...(JSON.parse(call.runInfo) as RunShape | null),
        get abortSignal() {
            return call.signal
        },
    }
}

function failureFor(call: Call) {
    const { failure } = call.cx
    if (failure === undefined) throw new Error('an error handler was called without an error')
    const { origin, ...error } = failure.error
    let steps: object | undefined
    return {
        error: toError({ ...error, name: origin?.class ?? 'Error', stack: origin?.stack }),
        failedStep: failure.failedStep,
        workflowState: {
            ...failure.workflowState,
            get steps() {
                return (steps ??= stepsFor(call))
            },
        },
        log: logFor(call),
        run: JSON.parse(call.runInfo) as RunShape,
    }
}
