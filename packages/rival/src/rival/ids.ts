/** The ids of a block's nodes. */
import type { Draft } from './part.ts'

/** The name that it was given, else its kind's, function's or workflow's; used again without a name it is `name_2`. */
export function idsOf(drafts: Draft[]): string[] {
    const used = new Map<string, number>()
    return drafts.map(({ name, base }) => {
        if (name !== undefined) return name
        const uses = (used.get(base) ?? 0) + 1
        used.set(base, uses)
        return uses === 1 ? base : `${base}_${uses}`
    })
}
