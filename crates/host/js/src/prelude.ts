/**
 * The first thing that a realm evaluates. It puts what scripts expect of a platform into the global object, and gives
 * Rust the hooks through which frames, timers and answers come in.
 */
import { abort, answerParse, call, describe, forget } from './host/frames.ts'
import { connect } from './host/native.ts'
import { answered, ask, completed, drained } from './host/ops.ts'
import { isLoading } from './host/frames.ts'
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
    switch (frame.t) {
        case 'call':
            return call(frame)
        case 'answer':
            return answered(frame)
        case 'abort':
            return abort(frame)
        case 'forget':
            return forget(frame)
        case 'describe':
            return describe(frame)
        case 'parse':
            return answerParse(frame)
    }
}
