/** `context.steps`: earlier steps by name. Those that the parent did not send along are asked for. */
import type { StepEntry } from '../native.ts'
import { askNow } from './ops.ts'
import type { Call } from './call.ts'

type Entries = Record<string, StepEntry | null>

/** The steps that a call sees. */
export function stepsFor(call: Call): object {
    return new Proxy<Entries>(call.cx.steps ?? {}, new Steps(call))
}

class Steps implements ProxyHandler<Entries> {
    constructor(private readonly call: Call) {}

    get(known: Entries, name: PropertyKey): unknown {
        if (typeof name !== 'string') return undefined
        return this.look(known, name)
    }

    has(known: Entries, name: PropertyKey): boolean {
        return typeof name === 'string' && this.look(known, name) !== undefined
    }

    ownKeys(): string[] {
        return askNow(this.call, 'names', {}) as string[]
    }

    getOwnPropertyDescriptor(known: Entries, name: PropertyKey): PropertyDescriptor | undefined {
        const value = this.get(known, name)
        return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true }
    }

    set(_known: Entries, name: PropertyKey): boolean {
        throw new TypeError(`steps.${String(name)} cannot be set: results are recorded when a step returns`)
    }

    private look(known: Entries, name: string): StepEntry | undefined {
        if (!Object.hasOwn(known, name)) known[name] = askNow(this.call, 'look', { name }) as StepEntry | null
        const entry = known[name] ?? undefined
        if (entry === undefined) this.call.missing = name
        return entry
    }
}

/** `steps.chrage.result` is an error of the language, which does not know the name. This one says it. */
export function explainMissing(call: Call, thrown: unknown): void {
    if (call.missing === undefined || !(thrown instanceof TypeError)) return
    if (!/^cannot read property '(result|state|status)' of undefined$/.test(thrown.message)) return
    const names = (askNow(call, 'names', {}) as string[]).map((name) => `\`${name}\``)
    const known = names.length === 0 ? 'there is none before this one' : `there are ${names.join(', ')}`
    thrown.message += `: no step \`${call.missing}\` has ended before this one; ${known}`
}
