/**
 * What calls wait for: operations that the parent answers, and timers and requests that Rust completes. Each belongs to
 * the call that began it, so that the parent can be told when a call does nothing but wait for durable operations.
 */
import type { AnswerFrame } from '../native.ts'
import { type Call, calls, currentCall } from './call.ts'
import { toError } from './errors.ts'
import { toJson } from './json.ts'
import { native } from './native.ts'

interface Asked {
    call: Call | undefined
    isDurable: boolean
    resolve(value: unknown): void
    reject(error: Error): void
}

interface Begun {
    call: Call | undefined
    complete(error: unknown, value: unknown): void
}

const asked = new Map<number, Asked>()
const begun = new Map<number, Begun>()
/** Calls of which the parent may have to be told something. */
const changed = new Set<Call>()

/** Asks the parent for something durable. */
export function askDurably(call: Call, kind: string, args: unknown): Promise<unknown> {
    return send(call, kind, args, true).answer
}

/** Asks the parent for anything else, for the running call. */
export function ask(kind: string, args: unknown): Promise<unknown> {
    return send(currentCall(), kind, args, false).answer
}

/** Asks the parent, and tells the operation's number too. */
export function send(call: Call | undefined, kind: string, args: unknown, isDurable: boolean) {
    const op = native.next()
    const text = opText(call, op, kind, args)
    const answer = new Promise<unknown>((resolve, reject) => {
        asked.set(op, { call, isDurable, resolve, reject })
    })
    count(call, isDurable, 1)
    native.send(text)
    return { op, answer }
}

/** Asks the parent and waits for the answer here and now: nothing else runs meanwhile. */
export function askNow(call: Call, kind: string, args: unknown): unknown {
    if (!calls.has(call.id)) throw new Error('the call that this belongs to is over')
    const { answer } = JSON.parse(native.ask(opText(call, native.next(), kind, args))) as { answer: AnswerFrame }
    call.answers++
    if (answer.error !== undefined) throw toError(answer.error)
    return answer.value
}

function opText(call: Call | undefined, op: number, kind: string, args: unknown): string {
    const json = toJson(args, `what was given to ${kind}`)
    return `{"op":{"id":${call?.id ?? 0},"op":${op},"kind":${JSON.stringify(kind)},"args":${json}}}`
}

/** The parent answered. */
export function answered(frame: AnswerFrame): void {
    const entry = asked.get(frame.op)
    if (entry === undefined) return
    asked.delete(frame.op)
    if (entry.call !== undefined) {
        // It knows that an answer wakes the call.
        entry.call.saidWaiting = false
        entry.call.answers++
        count(entry.call, entry.isDurable, -1)
    }
    if (frame.error !== undefined) entry.reject(toError(frame.error))
    else entry.resolve(frame.value)
}

/** Remembers a timer or request; gives its number. */
export function begin(complete: Begun['complete']): number {
    const op = native.next()
    const call = currentCall()
    begun.set(op, { call, complete })
    count(call, false, 1)
    return op
}

/** Rust has finished a timer or request. */
export function completed(op: number, error: unknown, value: unknown): void {
    const entry = begun.get(op)
    if (entry === undefined) return
    end(op, entry)
    entry.complete(error, value)
}

/** Gives up a timer or request. */
export function stop(op: number): void {
    const entry = begun.get(op)
    if (entry === undefined) return
    end(op, entry)
    native.stop(op)
}

function end(op: number, entry: Begun): void {
    begun.delete(op)
    count(entry.call, false, -1)
}

/** Something that is neither an operation nor Rust's keeps a call busy, or does so no more. */
export function count(call: Call | undefined, isDurable: boolean, by: 1 | -1): void {
    if (call === undefined) return
    if (isDurable) call.durable += by
    else call.others += by
    // Without durable operations there is nothing to tell.
    if (call.durable > 0 || call.saidWaiting) changed.add(call)
}

/** A turn of this call is over: tells the parent what has changed, and which calls now do nothing but wait. */
export function drained(id: number): void {
    calls.get(id)?.sayState()
    if (changed.size === 0) return
    for (const call of changed) {
        if (!calls.has(call.id)) continue
        const waits = call.durable > 0 && call.others === 0
        if (waits === call.saidWaiting) continue
        call.saidWaiting = waits
        native.send(
            waits ? `{"waiting":{"id":${call.id},"answers":${call.answers}}}` : `{"busy":{"id":${call.id}}}`,
        )
    }
    changed.clear()
}

/** Forgets what a call asked the parent for: its promises never settle. */
export function forgetAsked(id: number): void {
    for (const [op, entry] of asked) if (entry.call?.id === id) asked.delete(op)
}

/** Forgets the timers and requests of a call, which Rust has given up. */
export function forgetBegun(id: number): void {
    for (const [op, entry] of begun) if (entry.call?.id === id) begun.delete(op)
}
