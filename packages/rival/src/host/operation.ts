/**
 * Durable operations as the promises that functions are given.
 *
 * A promise cannot be dropped, so it is noted here what attends to one: code that awaits it, or races that it is in. An
 * answer is used when something attends to it. An operation can be given up until then: by `durable.race`, whose losers
 * end with it, by an abort signal, or by a newer wait for the same signal when the races that it was in are settled.
 */
import type { Call, Unattended } from './call.ts'
import { isPlaceless } from './errors.ts'
import { forgetAnswer, tell } from './ops.ts'
import { framesOf } from './stack.ts'
import { stackText } from '../web/inspect.ts'

/** What became of an operation: its answer, until something uses it. */
type Outcome = { value: unknown } | { error: unknown }

/** A race of promises, some of which are operations. */
interface Race {
    settled: boolean
    operations: Operation[]
    /** An error settles it, too. */
    failsFirst: boolean
}

const operations = new WeakMap<object, Operation>()
const plainThen = Promise.prototype.then
const plainRace = Promise.race
const plainAny = Promise.any

/** A promise that notes who waits for it. `await` asks for its `then`, because its constructor is not `Promise`. */
class OperationPromise extends Promise<unknown> {
    static override get [Symbol.species]() {
        return Promise
    }

    override then<A = unknown, B = never>(
        fulfilled?: ((value: unknown) => A | PromiseLike<A>) | null,
        rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
    ): Promise<A | B> {
        operations.get(this)?.attend()
        return super.then(fulfilled, rejected)
    }
}

/** An operation that a function has asked for. */
export class Operation implements Unattended {
    readonly promise: Promise<unknown>
    /** Its answer has been used. */
    #isUsed = false
    #isDropped = false
    /** Something waits for it that is no race. */
    #isAwaited = false
    /** It was in a race. */
    #wasRaced = false
    #outcome: Outcome | undefined
    readonly #races = new Map<Race, (outcome: Outcome) => void>()
    #reject!: (error: unknown) => void
    /** Its stack shows the line that asked. */
    readonly #asked = new Error()

    constructor(
        readonly call: Call,
        /** What the function has called, such as `durable.sleep`. */
        readonly kind: string,
        /** Its number. */
        readonly number: number,
        answer: Promise<unknown>,
        /** The parent wants to know when the answer is used: until then the operation can be given up. */
        readonly isKept: boolean,
    ) {
        this.promise = new OperationPromise((resolve, reject) => {
            this.#reject = reject
            answer.then(
                (value) => this.#came({ value }) && resolve(value),
                (error) => this.#came({ error: this.#placed(error) }) && reject(error),
            )
        })
        operations.set(this.promise, this)
        call.unattended ??= new Set()
        call.unattended.add(this)
    }

    complaint(): string {
        const message = `\`${this.kind}\` was not awaited, and ends with the step: write \`await ${this.kind}(…)\``
        return `${message}\n${stackText(framesOf(this.#asked))}`
    }

    get isDropped(): boolean {
        return this.#isDropped
    }

    /** Whether its only listeners were races, and all of them are settled. */
    get isForsaken(): boolean {
        return this.#wasRaced && this.#races.size === 0 && !this.#isAwaited && !this.#isUsed && !this.#isDropped
    }

    /** Something waits for it. */
    attend(): void {
        this.#isAwaited = true
        this.call.unattended?.delete(this)
        if (this.#outcome !== undefined) this.#use()
    }

    /** Gives it up, unless its answer was used. Code that awaits it later gets an error that says so. */
    drop(reason: unknown = givenUp()): void {
        if (this.#isUsed || this.#isDropped) return
        this.#isDropped = true
        this.call.unattended?.delete(this)
        this.#ignore()
        this.#reject(reason)
        forgetAnswer(this.number)
        tell(this.call, 'durable.drop', { op: this.number })
    }

    /** Takes part in a race, and gives what the race hears of it. */
    enter(race: Race): Promise<unknown> {
        this.#wasRaced = true
        this.call.unattended?.delete(this)
        this.#ignore()
        return new Promise((resolve, reject) => {
            const hear = (outcome: Outcome) => {
                if ('value' in outcome) resolve(outcome.value)
                else reject(outcome.error)
            }
            if (this.#isDropped) return reject(givenUp())
            if (this.#outcome === undefined) return void this.#races.set(race, hear)
            this.#use()
            hear(this.#outcome)
        })
    }

    leave(race: Race): void {
        this.#races.delete(race)
    }

    /** Its answer is here. Gives whether the code that waits for it may get it. */
    #came(outcome: Outcome): boolean {
        if (this.#isDropped) return false
        this.#outcome = outcome
        if (this.#isAwaited) this.#use()
        for (const [race, hear] of this.#races) {
            if (race.settled) continue
            if ('value' in outcome || race.failsFirst) race.settled = true
            this.#use()
            hear(outcome)
        }
        return true
    }

    #use(): void {
        if (this.#isUsed || this.#isDropped) return
        this.#isUsed = true
        if (this.isKept) tell(this.call, 'durable.used', { op: this.number })
    }

    /** An error of the parent comes from nowhere: it is given the line that asked. */
    #placed(error: unknown): unknown {
        if (isPlaceless(error)) error.stack = `${String(error)}\n${framesOf(this.#asked)}`
        return error
    }

    /** Its failure is no unhandled one: a race has heard of it, or it was given up. */
    #ignore(): void {
        plainThen.call(this.promise, undefined, () => {})
    }
}

function givenUp(): Error {
    const message = 'this durable operation was given up: another one won its race, or a newer wait took its place'
    return Object.assign(new Error(message), { code: 'operation_dropped' })
}

/** Races promises. Operations among them know when the race is over; `after` is called then, before anything else. */
export function raced(
    items: Iterable<unknown>,
    failsFirst: boolean,
    after: (operations: Operation[]) => void = () => {},
): Promise<unknown> {
    const race: Race = { settled: false, operations: [], failsFirst }
    const heard = Array.from(items, (item) => {
        const operation = typeof item === 'object' && item !== null ? operations.get(item) : undefined
        if (operation === undefined) return item
        race.operations.push(operation)
        return operation.enter(race)
    })
    const winner = failsFirst ? plainRace.call(Promise, heard) : plainAny.call(Promise, heard)
    if (race.operations.length === 0) return winner
    const over = () => {
        race.settled = true
        for (const operation of race.operations) operation.leave(race)
        after(race.operations)
    }
    plainThen.call(winner, over, over)
    return winner
}

/** Lets `Promise.race` and `Promise.any` tell operations when they are settled. */
export function installRaces(): void {
    const define = (name: 'race' | 'any', plain: typeof plainRace, failsFirst: boolean) => {
        const value = function (this: unknown, items: Iterable<unknown>): Promise<unknown> {
            if (this !== Promise) return plain.call(this as PromiseConstructor, items as unknown[])
            try {
                return raced(items, failsFirst)
            } catch (error) {
                return Promise.reject(error)
            }
        }
        Object.defineProperty(value, 'name', { value: name, configurable: true })
        Object.defineProperty(Promise, name, { value, configurable: true, writable: true, enumerable: false })
    }
    define('race', plainRace, true)
    define('any', plainAny as typeof plainRace, false)
}
