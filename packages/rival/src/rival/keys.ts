/**
 * The names under which plans know functions. A run that is under way when its file is edited finds its functions by
 * them, so none of them may come to mean another function because something else was added, removed or moved:
 *
 * - A function is known by its own name, or by the name of the node that it belongs to: `charge`, `check#if`. Its text
 *   may change.
 * - What has no name is known by its function: by the function's name, or by its text, as in `branch~:isBig#if` and
 *   `http~1f0c…`. With another text it is not found, and the run says so.
 * - Where one name would mean two functions, each of them is known by its text as well.
 *
 * The same holds for the nodes around a function: `branch~93ab…/then/charge`. No number of a node is in any name.
 */
import type { Role } from '../native.ts'
import type { Schema, Target } from '../realm.ts'
import { fingerprint, ownName, predefinedBase, sourceOf, textsOf } from './identity.ts'
import type { Fn } from './options.ts'
import { refuse } from './refuse.ts'

/** Stands between a name and a text's fingerprint, and after the kind of a node without a name. No name has it. */
const MARK = '~'

/** One use of a function in a plan. */
export interface Use {
    /** The object of the plan that names the function, and the field in which it does. */
    slot: Record<string, unknown>
    field: string
    fn: Fn
    role: Role
    /** The place, as far as names lead there. */
    place: string
    /** The name of what stands there is the function's too. */
    isNamed: boolean
    /** The property in which its author wrote it. */
    property: string
    /** What it is in messages. */
    what: string
    /** The name that version 0.1 gave it, which had the numbers of nodes in it. */
    former: string
    after?: ((value: unknown) => unknown) | undefined
    /** Judges what it returns. */
    schema?: Schema | undefined
}

/** Functions of equal texts that are not the same one: the same thing only if they use nothing from outside. */
export interface Twins {
    what: string
    texts: string[]
}

export interface Assigned {
    functions: Map<string, Target>
    /** The names of version 0.1 with those of today, if any differs. */
    former: Map<string, string> | undefined
    twins: Twins[]
}

/** A node's place in the names of functions. */
export function placeOf(at: string, component: string): string {
    return at === '' ? component : `${at}/${component}`
}

/** What a node without a name adds to a place: its kind, and the function that sets it apart, if it has one. */
export function unnamed(base: string, fn?: Fn, property = ''): string {
    return base + MARK + (fn === undefined ? '' : identityOf(fn, property))
}

function identityOf(fn: Fn, property: string): string {
    const own = ownName(fn, property)
    return own === undefined ? fingerprint(fn) : `:${own}`
}

/** Collects the functions of a plan, then names them. */
export class Keys {
    private readonly uses: Use[] = []

    add(use: Use): void {
        use.slot[use.field] = ''
        this.uses.push(use)
    }

    /** Writes the names of version 0.1 into the plan. */
    writeFormer(): void {
        for (const { slot, field, former } of this.uses) slot[field] = former
    }

    /** Writes today's names into the plan. */
    write(): Assigned {
        const functions = new Map<string, Target>()
        const former = new Map<string, string>()
        const twins: Twins[] = []
        for (const [name, uses] of grouped(this.uses, nameOf)) {
            const isAmbiguous = uses.some((use) => !isSame(use, uses[0] as Use))
            const keyOf = (use: Use) => (isAmbiguous && !isText(name) ? name + MARK + fingerprint(use.fn) : name)
            for (const [key, same] of grouped(uses, keyOf)) {
                twins.push(...twinsIn(same))
                functions.set(key, targetOf(same[0] as Use))
                for (const use of same) {
                    use.slot[use.field] = key
                    former.set(use.former, key)
                }
            }
        }
        const hasChanged = Array.from(former).some(([before, now]) => before !== now)
        return { functions, former: hasChanged ? former : undefined, twins }
    }
}

function nameOf({ place, isNamed, fn, property }: Use): string {
    if (isNamed) return place
    return place + MARK + identityOf(fn, property)
}

/** Whether a name ends with a fingerprint. */
function isText(name: string): boolean {
    return /~[0-9a-f]{12}$/.test(name)
}

function grouped(uses: Use[], by: (use: Use) => string): Map<string, Use[]> {
    const groups = new Map<string, Use[]>()
    for (const use of uses) {
        const name = by(use)
        const group = groups.get(name)
        if (group === undefined) groups.set(name, [use])
        else group.push(use)
    }
    return groups
}

function isSame(a: Use, b: Use): boolean {
    if (a.schema !== b.schema) return false
    return a.fn === b.fn || isPlain(a.fn, b.fn)
}

/** Whether two functions of ours were made of the same data. */
function isPlain(a: Fn, b: Fn): boolean {
    if (predefinedBase(a) === undefined || textsOf(a).length > 0) return false
    return fingerprint(a) === fingerprint(b)
}

function twinsIn(uses: Use[]): Twins[] {
    const [first, ...others] = uses as [Use, ...Use[]]
    const other = others.find((use) => !isSame(use, first))
    if (other === undefined) return []
    if (other.schema !== first.schema) {
        refuse(`${first.what} and ${other.what} cannot be told apart`, 'give them names')
    }
    return [{ what: `${first.what} and ${other.what}`, texts: textsOf(first.fn) }]
}

function targetOf({ fn, role, after }: Use): Target {
    const target: Target = { fn, role, source: sourceOf(fn) }
    if (predefinedBase(fn) !== undefined) target.texts = textsOf(fn)
    if (after !== undefined) target.after = after
    return target
}
