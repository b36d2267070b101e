/** From a workflow to its plan. The plan's JSON is what `rival_core::Plan` reads; defaults are left out. */
import type { Role } from '../native.ts'
import type { Issue, Schema, Target } from '../realm.ts'
import { waitOf } from './blocks.ts'
import type { WorkflowData } from './data.ts'
import { ownName, predefine, predefinedBase } from './identity.ts'
import { idsOf } from './ids.ts'
import { Keys, placeOf, type Twins, unnamed } from './keys.ts'
import type { Fn } from './options.ts'
import {
    type BranchDraft,
    type Draft,
    type EachDraft,
    FileReference,
    isNameless,
    type LoopDraft,
    type NestedDraft,
    type ParallelDraft,
    type RetryDraft,
    type SignalDraft,
    type SleepDraft,
    type StepDraft,
} from './part.ts'
import { closest, kindOf, placed, refuse } from './refuse.ts'

type Json = Record<string, unknown>
type PlanBlock = { nodes: Json[] }

/** A workflow with its plan. */
export interface Compiled {
    data: WorkflowData
    plan: Json
    functions: Map<string, Target>
    /** The plan as version 0.1 made it, with today's names of the functions in it; absent if nothing differs. */
    former: { plan: Json; functions: Map<string, string> } | undefined
    /** Functions that are told apart by nothing. */
    twins: Twins[]
    schema: Schema | undefined
    /** What signals carry, by name. */
    signals: Map<string, Schema>
    /** What nested workflows whose input is mapped are given, by the path of the node. */
    nested: Map<string, Schema>
}

/** The workflows of files that others refer to. */
export type References = Map<FileReference, WorkflowData>

/** Makes the plan, or says what is wrong. */
export function compile(data: WorkflowData, references: References): Compiled {
    const compiler = new Compiler(references)
    const plan = compiler.plan(data)
    const { keys, signals, nested } = compiler
    keys.writeFormer()
    const before = JSON.parse(JSON.stringify(plan)) as Json
    const { functions, former: names, twins } = keys.write()
    const former = names === undefined ? undefined : { plan: before, functions: names }
    return { data, plan, functions, former, twins, schema: data.schema, signals, nested }
}

class Compiler {
    readonly keys = new Keys()
    readonly signals = new Map<string, Schema>()
    readonly nested = new Map<string, Schema>()
    /** The workflow that is being compiled, inside of those around it. */
    private readonly way: WorkflowData[] = []

    constructor(private readonly references: References) {}

    plan(data: WorkflowData): Json {
        const plan: Json = { workflow: data.name, block: this.workflow(data, ROOT) }
        if (data.onError !== undefined) this.own(plan, 'onError', ROOT, data.onError, 'onError')
        if (data.timeoutMs !== undefined) plan.timeoutMs = data.timeoutMs
        if (data.maxRetries !== undefined && data.maxRetries > 0) plan.maxRetries = data.maxRetries
        return plan
    }

    /** A workflow's own block. */
    private workflow(data: WorkflowData, at: At): PlanBlock {
        if (this.way.includes(data)) {
            const round = this.way.slice(this.way.indexOf(data))
            const names = [...round, data].map(({ name }) => name).join(' -> ')
            refuse(`workflow \`${data.name}\` contains itself: ${names}`, 'start a child instead: durable.run(..)')
        }
        this.way.push(data)
        const unused = new Set(data.results?.keys())
        const block = this.block(data.nodes, at, data, unused)
        this.checkResults(data, block, unused)
        this.way.pop()
        return block
    }

    private checkResults(data: WorkflowData, block: PlanBlock, unused: Set<string>): void {
        const [name] = unused
        if (name === undefined) return
        const meant = closest(name, idsIn(block))
        const advice = meant === undefined ? 'name results after steps' : `did you mean \`${meant}\`?`
        placed({ export: 'results' }, () =>
            refuse(`results of workflow \`${data.name}\`: there is no step \`${name}\``, advice),
        )
    }

    private block(drafts: Draft[], at: At, data: WorkflowData, unused: Set<string>): PlanBlock {
        const where = at.path === '' ? `workflow \`${data.name}\`` : `\`${at.path}\``
        if (drafts.length === 0) refuse(`${where} has no steps`, 'add at least one')
        const named = drafts.map((draft) => this.resolved(draft))
        const ids = idsOf(named)
        const around: Around = { at, data, unused }
        const nodes = named.map((draft, index) => {
            const id = ids[index] ?? ''
            const node = () => {
                if (ids.indexOf(id) < index || this.isMistakable(draft, named.slice(0, index))) {
                    if (isNameless(draft)) {
                        refuse(
                            `two steps of ${where} are functions without a name`,
                            "write function charge(..) { .. }, or { name: 'charge', fn: (..) => .. }",
                        )
                    }
                    const name = draft.name ?? draft.base
                    const kind = draft.kind === 'workflow' ? 'workflows' : 'steps'
                    refuse(`two ${kind} of ${where} are called \`${name}\``, 'give one of them another name')
                }
                return this.node(id, draft, around)
            }
            // The error points into the file's own list of steps, where the author looks.
            return at.path === '' && data.isFile ? placed({ export: 'steps', index }, node) : node()
        })
        return { nodes }
    }

    /** Whether something else before it has its name: after an edit, runs under way would take one for the other. */
    private isMistakable(draft: Draft, before: Draft[]): boolean {
        if (draft.name !== undefined) return false
        const others = before.filter((other) => other.name === undefined && other.base === draft.base)
        if (draft.kind === 'workflow') {
            const workflow = this.referred(draft)
            return others.some((other) => other.kind === 'workflow' && this.referred(other) !== workflow)
        }
        if (draft.kind !== 'step' || predefinedBase(draft.fn) !== undefined) return false
        return others.some((other) => other.kind === 'step' && other.fn !== draft.fn)
    }

    /** A file's workflow is called as the file says. */
    private resolved(draft: Draft): Draft {
        if (draft.kind !== 'workflow' || draft.base !== '') return draft
        return { ...draft, base: this.referred(draft).name }
    }

    private referred(draft: NestedDraft): WorkflowData {
        if (!(draft.workflow instanceof FileReference)) return draft.workflow
        const data = this.references.get(draft.workflow)
        return data ?? refuse(`workflow('${draft.workflow.path}') was not found`)
    }

    private node(id: string, draft: Draft, around: Around): Json {
        // The very objects that functions are written into, not copies.
        const node = (fields: Json) => Object.assign(fields, { id, kind: draft.kind })
        const at = inside(around.at, id, componentOf(draft, id, around.data), draft)
        switch (draft.kind) {
            case 'step':
                return node(this.step(at, id, draft, around))
            case 'sleep':
                return node({ wait: this.wait(at, draft) })
            case 'signal':
                return node(this.signal(draft))
            case 'branch':
                return node(this.branch(at, draft, around))
            case 'loop':
                return node(this.loop(at, draft, around))
            case 'forEach':
                return node(this.each(at, draft, around))
            case 'parallel':
                return node(this.parallel(at, draft, around))
            case 'workflow':
                return node(this.nestedWorkflow(at, draft))
        }
    }

    private step(at: At, id: string, draft: StepDraft, around: Around): Json {
        const { timeoutMs, onTimeout, onError, continueOnError, atMostOnce, compensate } = draft
        const schema = around.data.results?.get(id)
        around.unused.delete(id)
        const after = schema === undefined ? undefined : checker(id, schema)
        const step: Json = {}
        const { path, place, what } = at
        const use = { slot: step, field: 'function', fn: draft.fn, role: 'step' as const, property: 'fn', after, schema }
        // The place of a step without a name has its function in it already.
        this.keys.add({ ...use, place, isNamed: true, what, former: path })
        Object.assign(step, retry(draft.retry))
        if (timeoutMs !== undefined) step.timeoutMs = timeoutMs
        if (onTimeout === 'retry') step.onTimeout = onTimeout
        if (onError !== undefined) this.own(step, 'onError', at, onError, 'onError')
        if (continueOnError === true) step.continueOnError = true
        if (atMostOnce === true) step.atMostOnce = true
        if (compensate !== undefined) {
            const undo: Json = { ...retry(compensate.retry), ...timeout(compensate.timeoutMs) }
            this.own(undo, 'function', at, compensate.fn, 'compensate')
            step.compensate = undo
        }
        return step
    }

    private wait(at: At, { wait, base }: SleepDraft): Json {
        if (!('computed' in wait)) return wait
        const after = (value: unknown) => waitOf(value, `what ${base} \`${at.path}\` computed`)
        return this.own({}, 'computed', at, wait.computed, 'sleep', 'wait', after)
    }

    private signal(draft: SignalDraft): Json {
        const { signal, schema, timeoutMs, timeoutIsValue } = draft
        const known = this.signals.get(signal)
        if (schema !== undefined) {
            if (known !== undefined && known !== schema) {
                refuse(`signal \`${signal}\` has two schemas`, 'use the same schema object in both places')
            }
            this.signals.set(signal, schema)
        }
        return { signal, ...timeout(timeoutMs), ...(timeoutIsValue === true ? { timeoutIsValue } : {}) }
    }

    private branch(at: At, draft: BranchDraft, { data, unused }: Around): Json {
        const branch: Json = {}
        if (draft.isYesOrNo) this.own(branch, 'choose', at, draft.choose, 'if', 'choose', Boolean)
        else this.own(branch, 'choose', at, draft.choose, 'on', 'choose', String)
        branch.cases = draft.cases.map(([name, drafts]) => ({
            name,
            block: this.block(drafts, lane(at, name), data, unused),
        }))
        if (draft.otherwise !== undefined) {
            branch.default = this.block(draft.otherwise, lane(at, 'default'), data, unused)
        }
        return branch
    }

    private loop(at: At, draft: LoopDraft, { data, unused }: Around): Json {
        const test = this.own({}, draft.test, at, draft.fn, draft.test, 'test', Boolean)
        const body = this.block(draft.body, at, data, unused)
        return { body, test, maxIterations: draft.maxIterations }
    }

    private each(at: At, draft: EachDraft, { data, unused }: Around): Json {
        const { concurrency, maxIterations } = draft
        const each = this.own({}, 'items', at, draft.items, 'items', 'items', listOf)
        each.body = this.block(draft.body, at, data, unused)
        return Object.assign(each, { concurrency }, maxIterations === undefined ? {} : { maxIterations })
    }

    private parallel(at: At, draft: ParallelDraft, { data, unused }: Around): Json {
        if (draft.branches.length === 0) {
            refuse(`parallel \`${at.path}\` has no branches`, "add one with .branch('name', (b) => b.step(..))")
        }
        const firsts = draft.branches.map(([, drafts]) => this.resolved(drafts[0] as Draft))
        const ids = idsOf(firsts)
        const branches = draft.branches.map(([given, drafts], index) => {
            const name = given ?? ids[index] ?? ''
            const component = given ?? componentOf(firsts[index] as Draft, name, data)
            return { name, block: this.block(drafts, lane(at, name, component), data, unused) }
        })
        const parallel: Json = { branches }
        if (draft.join !== 'all') parallel.join = draft.join === 'first' ? 'first' : { n: draft.join }
        if (draft.onFailure === 'collect') parallel.onFailure = 'collect'
        if (draft.finally !== undefined) this.own(parallel, 'finally', at, draft.finally, 'finally')
        return parallel
    }

    private nestedWorkflow(at: At, draft: NestedDraft): Json {
        const data = this.referred(draft)
        const nested: Json = { workflow: data.name, block: this.workflow(data, at) }
        const { schema } = data
        // It judges what it is given, also if that is what the workflow around it was given.
        const input = draft.input ?? (schema === undefined ? undefined : sameInput)
        if (input !== undefined) {
            if (schema !== undefined) this.nested.set(at.path, schema)
            const after = schema === undefined ? undefined : inputFor(data.name, schema)
            this.own(nested, 'input', at, input, 'input', 'input', after)
        }
        if (data.onError !== undefined) this.own(nested, 'onError', at, data.onError, 'onError')
        return nested
    }

    /** A function that belongs to a node, or to the workflow: its handler, its test, … */
    private own(
        slot: Json,
        field: string,
        { path, place, isNamed, what }: At,
        fn: Fn,
        property: string,
        role: Role = property as Role,
        after?: (value: unknown) => unknown,
    ): Json {
        const use = { slot, field, fn, role, property, isNamed, after }
        const words = path === '' ? `\`${property}\`` : `\`${property}\` of ${what}`
        this.keys.add({ ...use, place: `${place}#${property}`, what: words, former: `${path}#${property}` })
        return slot
    }
}

/** Where a node is. */
interface At {
    /** With ids, in which nodes without a name have numbers: for the plan, and for messages. */
    path: string
    /** With names only: for the names of functions. */
    place: string
    /** Whether the place says which functions belong to the node. */
    isNamed: boolean
    /** The node in messages. */
    what: string
}

const ROOT: At = { path: '', place: '', isNamed: true, what: '' }

function inside(at: At, id: string, component: string, draft: Draft): At {
    const path = at.path === '' ? id : `${at.path}/${id}`
    const what = `${draft.kind} \`${path}\``
    const isNamed = hasName(draft) || !(draft.kind === 'step' || draft.kind === 'parallel')
    return { path, place: placeOf(at.place, component), isNamed, what }
}

function lane(at: At, name: string, component = name): At {
    return { ...at, path: `${at.path}/${name}`, place: placeOf(at.place, component) }
}

/** Whether a node has a name of its own that stays with it. */
function hasName(draft: Draft): boolean {
    if (draft.name !== undefined || draft.kind === 'workflow') return true
    return draft.kind === 'step' && ownName(draft.fn, 'fn') !== undefined
}

/** What a node adds to the names of functions. */
function componentOf(draft: Draft, id: string, data: WorkflowData): string {
    if (draft.name !== undefined) return draft.name
    switch (draft.kind) {
        case 'signal':
        case 'workflow':
            return draft.base
        case 'step': {
            // A number that `results` names means that step.
            const base = data.results?.has(id) === true ? id : draft.base
            return hasName(draft) ? base : unnamed(base, draft.fn, 'fn')
        }
        case 'sleep':
            return 'computed' in draft.wait ? unnamed(draft.base, draft.wait.computed, 'sleep') : unnamed(draft.base)
        case 'branch':
            return unnamed(draft.base, draft.choose, draft.isYesOrNo ? 'if' : 'on')
        case 'loop':
            return unnamed(draft.base, draft.fn, draft.test)
        case 'forEach':
            return unnamed(draft.base, draft.items, 'items')
        case 'parallel':
            return unnamed(draft.base)
    }
}

/** The block around a node. */
interface Around {
    at: At
    data: WorkflowData
    /** Names in `results` that no step had yet. */
    unused: Set<string>
}

function retry({ maxAttempts, backoff, backoffMs, jitter }: RetryDraft): Json {
    const retry: Json = {}
    if (maxAttempts !== undefined) retry.maxAttempts = maxAttempts
    if (backoff !== undefined) retry.backoff = backoff
    if (backoffMs !== undefined) retry.backoffMs = backoffMs
    if (jitter === true) retry.jitter = true
    return retry
}

function timeout(timeoutMs: number | undefined): Json {
    return timeoutMs === undefined ? {} : { timeoutMs }
}

function idsIn(block: PlanBlock): string[] {
    const ids: string[] = []
    JSON.stringify(block, (key, value) => {
        if (key === 'id') ids.push(value)
        return value
    })
    return ids
}

/** Anything that can be gone through, as a list. */
function listOf(value: unknown): unknown {
    const isIterable = typeof value === 'object' && value !== null && Symbol.iterator in value
    return isIterable && !Array.isArray(value) ? Array.from(value as Iterable<unknown>) : value
}

/** Refuses a result that `results` does not allow. */
function checker(id: string, schema: Schema): (value: unknown) => Promise<unknown> {
    return async (value) => {
        const parsed = await schema.safeParseAsync(value)
        if (parsed.success) return value
        const { issues } = parsed.error
        throw issueError('invalid_result', `step \`${id}\` returned ${kindOf(value)} that its schema refuses`, issues)
    }
}

/** What a nested workflow's schema makes of its input. */
function inputFor(name: string, schema: Schema): (value: unknown) => Promise<unknown> {
    return async (value) => {
        const parsed = await schema.safeParseAsync(value)
        if (parsed.success) return parsed.data
        const { issues } = parsed.error
        throw issueError('invalid_input', `workflow \`${name}\` was given ${kindOf(value)} that its schema refuses`, issues)
    }
}

function issueError(code: string, message: string, issues: Issue[]): Error {
    const found = issues.map(({ path, message }) => `${path.length === 0 ? 'it' : path.join('.')}: ${message}`)
    return Object.assign(new Error(`${message}: ${found.join('; ')}`), { code, details: { issues } })
}

const sameInput = predefine(({ input }) => input, 'input', '({ input }) => input', 'the same')
