/** zod's schemas as JSON Schema. */
import { type Schema, realm } from '../realm.ts'
import { WorkflowError } from './refuse.ts'

interface Zod {
    toJSONSchema(schema: Schema, options: object): Record<string, unknown>
}

interface Seen {
    zodSchema: { _zod: { def: { type: string } } }
    path: PropertyKey[]
}

/** What to use instead of types that JSON does not have. */
const INSTEAD: Record<string, string> = {
    bigint: 'z.int(), or z.string() for numbers beyond 2^53',
    date: 'z.iso.datetime()',
    file: 'a URL or base64 text',
    function: 'a step',
    map: 'z.record(z.string(), …)',
    nan: 'z.number()',
    promise: 'the value itself',
    set: 'z.array(…)',
    symbol: 'z.string()',
    undefined: '.optional()',
    void: '.optional()',
    transform: 'z.pipe(…) or a step that does it',
    custom: 'z.any().refine(…)',
}

/** A schema for what comes in (`input`) or for what is made of it (`output`). `what` names it in errors. */
export async function jsonSchema(schema: Schema, io: 'input' | 'output', what: string): Promise<Record<string, unknown>> {
    const zod = (await realm().native.load('zod')) as unknown as Zod
    try {
        return zod.toJSONSchema(schema, { io, unrepresentable: io === 'output' ? 'any' : 'throw' })
    } catch (error) {
        throw new WorkflowError(...explain(zod, schema, what, error as Error))
    }
}

/** Finds the part that has no JSON form. */
function explain(zod: Zod, schema: Schema, what: string, error: Error): [string, string] {
    let found: { type: string; path: string } | undefined
    const override = ({ zodSchema, path }: Seen) => {
        const { type } = zodSchema._zod.def
        const names = path.filter((_, index) => path[index - 1] === 'properties').map(String)
        if (found === undefined && type in INSTEAD) found = { type, path: [what, ...names].join('.') }
    }
    try {
        zod.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override })
    } catch {
        // The first error says enough.
    }
    if (found === undefined) return [`${what} has no JSON form: ${error.message}`, 'inputs are JSON']
    const { type, path } = found
    return [`${path}: z.${type}() has no JSON form`, `use ${INSTEAD[type]}`]
}
