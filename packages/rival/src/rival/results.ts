/** `Results`: what steps return, as types and, with zod, as a check. */
import type { Schema } from '../realm.ts'
import * as read from './options.ts'
import { kindOf, refuse } from './refuse.ts'

class ResultsOf {
    constructor(
        /** zod schemas by the name of the step. */
        readonly schemas: Record<string, Schema>,
    ) {}

    /** A type; as a value it is nothing. */
    get Steps(): undefined {
        return undefined
    }
}

/** Without schemas it gives types only. */
export function Results(schemas: unknown = {}): ResultsOf {
    if (typeof schemas !== 'object' || schemas === null) {
        return refuse(`Results takes schemas by the name of the step, not ${kindOf(schemas)}`)
    }
    for (const [name, schema] of Object.entries(schemas)) read.schema(schema, `Results: \`${name}\``)
    return new ResultsOf({ ...schemas } as Record<string, Schema>)
}

/** The schemas that a file's `results` hold. */
export function schemasOf(results: unknown): Map<string, Schema> {
    if (results instanceof ResultsOf) return new Map(Object.entries(results.schemas))
    return refuse(`\`results\` must be what Results(..) gives, not ${kindOf(results)}`)
}
