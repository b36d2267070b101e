/**
 * What calls wait for: operations that the parent answers, and timers and requests that Rust completes. Each belongs to
 * the call that began it, so that the parent can be told when a call does nothing but wait for durable operations.
 */
import type { AnswerFrame } from '../native.ts'
import { type Call, calls, currentCall, isCertain, oldestOpen, workingFor, youngest } from './call.ts'
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
    /** In whose turn it was begun; none for what is the file's own. */
    call: Call | undefined
    /**
     * The youngest call that was open then. A promise of one call can wake others, which then work in its turn: what is begun
     * there may be theirs. So it ends with the last of the calls that were open. 0 if it certainly is the call's own.
     */
    until: number
    complete(error: unknown, value: unknown): void
    /** It was given up because its call is over. */
    abandoned?: () => void
}

const asked = new Map<number, Asked>()
const begun = new Map<number, Begun>()
/** Timers and requests whose call is over, while others are open that they may belong to. */
const orphans = new Set<number>()
/** The youngest call that may have a part in the running turn. */
let turnUntil = 0
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

/** Tells the parent something that it does not answer. */
export function tell(call: Call, kind: string, args: unknown): void {
    if (calls.has(call.id)) native.send(opText(call, native.next(), kind, args))
}

/** The same, of the running call. */
export function tellOfCall(kind: string, args: unknown): void {
    const call = currentCall()
    if (call !== undefined) tell(call, kind, args)
}

/** An answer that nothing waits for any more. */
export function forgetAnswer(op: number): void {
    const entry = asked.get(op)
    if (entry === undefined) return
    asked.delete(op)
    count(entry.call, entry.isDurable, -1)
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
        entry.call.saidIdle = false
        entry.call.answers++
        count(entry.call, entry.isDurable, -1)
    }
    if (frame.error !== undefined) entry.reject(toError(frame.error))
    else entry.resolve(frame.value)
}

/** A timer or request that was begun: its number, and the call that it ends with; 0 if it is the file's own. */
export interface Operation {
    op: number
    owner: number
}

/** A turn begins in which calls up to this one may work. */
export function enterTurn(until: number): void {
    turnUntil = until
}

/** Remembers a timer or request. Null if the calls that may want it are over: it is not begun then. */
export function begin(complete: Begun['complete'], abandoned?: () => void): Operation | null {
    const op = native.next()
    const owner = native.current()
    const call = currentCall()
    // What a file begins while it is evaluated, or in a timer of its own, is for all of its calls.
    if (owner === 0 || call?.isLoading === true) {
        begun.set(op, { call: undefined, until: Infinity, complete, abandoned })
        return { op, owner: 0 }
    }
    if (call === undefined) {
        if (oldestOpen() > turnUntil) return null
        orphans.add(op)
    }
    const until = call === undefined ? turnUntil : isCertain(call) ? 0 : youngest()
    begun.set(op, { call, until, complete, abandoned })
    count(call, false, 1)
    return { op, owner }
}

/** Rust has finished a timer or request. */
export function completed(op: number, error: unknown, value: unknown): void {
    const entry = begun.get(op)
    if (entry === undefined) return
    end(op, entry)
    const { call, until, complete } = entry
    // Of a call that is open, any other may be woken; of one that is over, only those that were open when this was begun.
    enterTurn(call !== undefined && calls.has(call.id) ? youngest() : until)
    // What is certain of a timer is certain of what it does.
    if (call !== undefined && until === 0) workingFor(call, () => complete(error, value))
    else complete(error, value)
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
    orphans.delete(op)
    count(entry.call, false, -1)
}

/** Something that is neither an operation nor Rust's keeps a call busy, or does so no more. */
export function count(call: Call | undefined, isDurable: boolean, by: 1 | -1): void {
    if (call === undefined) return
    if (isDurable) call.durable += by
    else call.others += by
    // Without durable operations there is nothing to tell.
    if (call.durable === 0 && !call.saidIdle) return
    changed.add(call)
    native.drain()
}

/** A turn of this call is over: tells the parent what has changed, and which calls now do nothing but wait. */
export function drained(id: number): void {
    calls.get(id)?.sayState()
    if (changed.size === 0) return
    for (const call of changed) {
        if (!calls.has(call.id)) continue
        const waits = call.durable > 0 && call.others === 0
        if (waits === call.saidIdle) continue
        call.saidIdle = waits
        native.send(
            waits ? `{"idle":{"id":${call.id},"answers":${call.answers}}}` : `{"busy":{"id":${call.id}}}`,
        )
    }
    changed.clear()
}

/**
 * Ends what a call that is over has left behind: timers, requests, and operations that the parent has not answered. Requests
 * are rejected, since others may wait for them, too; promises for the rest never settle.
 */
export function release(call: Call): void {
    if (call.durable > 0) {
        asked.forEach((entry, op) => {
            if (entry.call === call) asked.delete(op)
        })
    }
    if (call.others > 0) {
        begun.forEach((entry, op) => {
            if (entry.call === call) orphans.add(op)
        })
    }
    if (orphans.size === 0) return
    const oldest = oldestOpen()
    orphans.forEach((op) => {
        const entry = begun.get(op)
        if (entry === undefined || entry.until >= oldest) return
        stop(op)
        entry.abandoned?.()
    })
}
