/**
 * The first thing that a realm evaluates. It puts what scripts expect of a platform into the global object, and gives
 * Rust the hooks through which frames, timers and answers come in.
 */
import { Builtins } from './host/builtins.ts'
import { Call, youngest } from './host/call.ts'
import { contextFor } from './host/context.ts'
import { abort, addWorkflow, call, describe, forget, isLoading, judgeBuiltins, keepBuiltins, parse, protect } from './host/frames.ts'
import { connect, native } from './host/native.ts'
import { installRaces } from './host/operation.ts'
import { framesOf, installStacks } from './host/stack.ts'
import { answered, ask, completed, drained, enterTurn, tellOfCall } from './host/ops.ts'
import type { Cx, Exports, Frame, Native } from './native.ts'
import { install } from './realm.ts'
import { installGlobals } from './web/globals.ts'
import { inspect } from './web/inspect.ts'
import { Timer } from './web/timers.ts'

export { commonNames, commonValues } from './host/common_js.ts'
export { realm } from './realm.ts'

const evaluated = new Map<string, Exports>()

/** A part of zod that few workflow files use: it is evaluated when it is first asked for. */
export function later(name: string): Exports {
    const known = evaluated.get(name)
    if (known !== undefined) return known
    const module = native.later(name)
    evaluated.set(name, module)
    return module
}

/** What Rust calls. */
export default function prelude(given: Native) {
    connect(given)
    installGlobals()
    installRaces()
    installStacks()
    keepBuiltins(new Builtins(givenToCalls()))
    install({ native, ask, tell: tellOfCall, isLoading, judgeBuiltins, addWorkflow, protect, author: null, tests: null, inspect, framesOf })
    return { call, frame, complete: completed, drained }
}

/** One of each kind of object that calls are given, for the sake of their prototypes. */
function givenToCalls(): unknown[] {
    const { log, durable, run } = contextFor(new Call(0, {} as Cx, 'null'), 'step') as Record<string, unknown>
    return [log, durable, run, Timer.prototype]
}

function frame(frame: Frame): void {
    enterTurn(youngest())
    if (frame.answer !== undefined) answered(frame.answer)
    else if (frame.abort !== undefined) abort(frame.abort)
    else if (frame.forget !== undefined) forget(frame.forget)
    else if (frame.describe !== undefined) describe(frame.describe)
    else if (frame.parse !== undefined) parse(frame.parse)
}
