/**
 * The first thing that a realm evaluates. It puts what scripts expect of a platform into the global object, and gives
 * Rust the hooks through which frames, timers and answers come in.
 */
import { abort, call, describe, forget, isLoading, parse } from './host/frames.ts'
import { connect } from './host/native.ts'
import { answered, ask, completed, drained } from './host/ops.ts'
import type { Frame, Native } from './native.ts'
import { install } from './realm.ts'
import { installGlobals } from './web/globals.ts'
import { inspect } from './web/inspect.ts'

/** What Rust calls. */
export default function prelude(native: Native) {
    connect(native)
    installGlobals()
    install({ native, ask, isLoading, author: null, tests: null, inspect })
    return { frame, complete: completed, drained }
}

function frame(frame: Frame): void {
    if (frame.call !== undefined) call(frame.call)
    else if (frame.answer !== undefined) answered(frame.answer)
    else if (frame.abort !== undefined) abort(frame.abort)
    else if (frame.forget !== undefined) forget(frame.forget)
    else if (frame.describe !== undefined) describe(frame.describe)
    else if (frame.parse !== undefined) parse(frame.parse)
}
