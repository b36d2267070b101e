/** What is wrong with a workflow, said to its author. */

/** Where something is wrong, if the stack does not lead there. */
export interface Place {
    export: string
    /** The element of the exported list. */
    index?: number
}

/** Thrown while a file is loaded: what is wrong, and what to do about it. */
export class WorkflowError extends Error {
    readonly code: string
    readonly details: { advice?: string; at?: Place }

    constructor(message: string, advice?: string, code = 'invalid_workflow') {
        super(message)
        this.name = 'WorkflowError'
        this.code = code
        this.details = advice === undefined ? {} : { advice }
    }
}

export function refuse(message: string, advice?: string): never {
    throw new WorkflowError(message, advice)
}

/** Does something; says where if that is refused. */
export function placed<T>(at: Place, work: () => T): T {
    try {
        return work()
    } catch (error) {
        if (error instanceof WorkflowError) error.details.at ??= at
        throw error
    }
}

/** The same for what takes longer. */
export async function placedLater<T>(at: Place, work: () => Promise<T>): Promise<T> {
    try {
        return await work()
    } catch (error) {
        if (error instanceof WorkflowError) error.details.at ??= at
        throw error
    }
}

/** What a value is, in a few words. */
export function kindOf(value: unknown): string {
    if (value === null) return 'null'
    if (value === undefined) return 'undefined'
    if (Array.isArray(value)) return 'an array'
    switch (typeof value) {
        case 'function':
            return value.name === '' ? 'a function' : `the function \`${value.name}\``
        case 'string':
            return `the text '${value.length > 40 ? `${value.slice(0, 40)}…` : value}'`
        case 'object':
            if (value instanceof Promise) return 'a promise'
            if (isSchema(value)) return 'a zod schema'
            return objectKind(value)
        default:
            return `the ${typeof value} ${String(value)}`
    }
}

function objectKind(value: object): string {
    const name = Object.getPrototypeOf(value)?.constructor?.name
    if (typeof name === 'string' && name !== 'Object' && name !== '') return `an instance of ${name}`
    const keys = Object.keys(value)
    const shown = keys.slice(0, 4).join(', ')
    return keys.length === 0 ? 'an empty object' : `an object with ${shown}${keys.length > 4 ? ', …' : ''}`
}

/** Whether it looks like one of zod's. */
export function isSchema(value: unknown): boolean {
    return typeof value === 'object' && value !== null && '_zod' in value && 'safeParseAsync' in value
}

/** The word that was probably meant. */
export function closest(word: string, known: Iterable<string>): string | undefined {
    let best: string | undefined
    let least = Math.max(2, Math.floor(word.length / 3)) + 1
    for (const candidate of known) {
        const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
        if (distance < least) {
            best = candidate
            least = distance
        }
    }
    return best
}

function editDistance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, index) => index)
    for (let i = 1; i <= a.length; i++) {
        const next = [i]
        for (let j = 1; j <= b.length; j++) {
            const same = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
            next.push(Math.min(same, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
        }
        row = next
    }
    return row[b.length] ?? 0
}
