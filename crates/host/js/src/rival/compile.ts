/** From a workflow to its plan. The plan's JSON is what `rival_core::Plan` reads; defaults are left out. */
import type { Role } from '../native.ts'
import type { Issue, Schema, Target } from '../realm.ts'
import { waitOf } from './blocks.ts'
import type { WorkflowData } from './data.ts'
import { idsOf } from './ids.ts'
import type { Fn } from './options.ts'
import {
    type BranchDraft,
    type Draft,
    type EachDraft,
    FileReference,
    type LoopDraft,
    type NestedDraft,
    type ParallelDraft,
    type RetryDraft,
    type SignalDraft,
    type SleepDraft,
    type StepDraft,
    isPredefined,
    sourceOf,
} from './part.ts'
import { closest, kindOf, placed, refuse } from './refuse.ts'

type Json = Record<string, unknown>
type PlanBlock = { nodes: Json[] }

/** A workflow with its plan. */
export interface Compiled {
    data: WorkflowData
    plan: Json
    functions: Map<string, Target>
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
    const { functions, signals, nested } = compiler
    return { data, plan, functions, schema: data.schema, signals, nested }
}

class Compiler {
    readonly functions = new Map<string, Target>()
    readonly signals = new Map<string, Schema>()
    readonly nested = new Map<string, Schema>()
    /** The workflow that is being compiled, inside of those around it. */
    private readonly way: WorkflowData[] = []

    constructor(private readonly references: References) {}

    plan(data: WorkflowData): Json {
        const plan: Json = { workflow: data.name, block: this.workflow(data, '') }
        if (data.onError !== undefined) plan.onError = this.add('#onError', data.onError, 'onError')
        if (data.timeoutMs !== undefined) plan.timeoutMs = data.timeoutMs
        if (data.maxRetries !== undefined && data.maxRetries > 0) plan.maxRetries = data.maxRetries
        return plan
    }

    /** A workflow's own block. */
    private workflow(data: WorkflowData, at: string): PlanBlock {
        if (this.way.includes(data)) {
            const names = [...this.way, data].map(({ name }) => name).join(' -> ')
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

    private block(drafts: Draft[], at: string, data: WorkflowData, unused: Set<string>): PlanBlock {
        const where = at === '' ? `workflow \`${data.name}\`` : `\`${at}\``
        if (drafts.length === 0) refuse(`${where} has no steps`, 'add at least one')
        const named = drafts.map((draft) => this.resolved(draft))
        const ids = idsOf(named)
        const around: Around = { at, data, unused }
        const nodes = named.map((draft, index) => {
            const id = ids[index] ?? ''
            const node = () => {
                if (ids.indexOf(id) < index || isMistakable(draft, named.slice(0, index))) {
                    const name = draft.name ?? draft.base
                    refuse(`two steps of ${where} are called \`${name}\``, 'give one of them another name')
                }
                return this.node(id, draft, around)
            }
            // Whoever reads the message looks at the file's own list.
            return at === '' && data.isFile ? placed({ export: 'steps', index }, node) : node()
        })
        return { nodes }
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
        const path = around.at === '' ? id : `${around.at}/${id}`
        const node = { id, kind: draft.kind as string }
        switch (draft.kind) {
            case 'step':
                return { ...node, ...this.step(path, id, draft, around) }
            case 'sleep':
                return { ...node, wait: this.wait(path, draft) }
            case 'signal':
                return { ...node, ...this.signal(draft) }
            case 'branch':
                return { ...node, ...this.branch(path, draft, around) }
            case 'loop':
                return { ...node, ...this.loop(path, draft, around) }
            case 'forEach':
                return { ...node, ...this.each(path, draft, around) }
            case 'parallel':
                return { ...node, ...this.parallel(path, draft, around) }
            case 'workflow':
                return { ...node, ...this.nestedWorkflow(path, draft) }
        }
    }

    private step(path: string, id: string, draft: StepDraft, around: Around): Json {
        const { timeoutMs, onTimeout, onError, continueOnError, atMostOnce, compensate } = draft
        const schema = around.data.results?.get(id)
        around.unused.delete(id)
        const check = schema === undefined ? undefined : checker(id, schema)
        const step: Json = { function: this.add(path, draft.fn, 'step', check), ...retry(draft.retry) }
        if (timeoutMs !== undefined) step.timeoutMs = timeoutMs
        if (onTimeout === 'retry') step.onTimeout = onTimeout
        if (onError !== undefined) step.onError = this.add(`${path}#onError`, onError, 'onError')
        if (continueOnError === true) step.continueOnError = true
        if (atMostOnce === true) step.atMostOnce = true
        if (compensate !== undefined) {
            const undo: Json = { function: this.add(`${path}#compensate`, compensate.fn, 'compensate') }
            step.compensate = { ...undo, ...retry(compensate.retry), ...timeout(compensate.timeoutMs) }
        }
        return step
    }

    private wait(path: string, { wait, base }: SleepDraft): Json {
        if (!('computed' in wait)) return wait
        const after = (value: unknown) => waitOf(value, `what ${base} \`${path}\` computed`)
        return { computed: this.add(`${path}#sleep`, wait.computed, 'sleep', after) }
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

    private branch(path: string, draft: BranchDraft, { data, unused }: Around): Json {
        const choose = draft.isYesOrNo
            ? this.add(`${path}#if`, draft.choose, 'choose', Boolean)
            : this.add(`${path}#on`, draft.choose, 'choose', String)
        const cases = draft.cases.map(([name, drafts]) => ({
            name,
            block: this.block(drafts, `${path}/${name}`, data, unused),
        }))
        if (draft.otherwise === undefined) return { choose, cases }
        return { choose, cases, default: this.block(draft.otherwise, `${path}/default`, data, unused) }
    }

    private loop(path: string, draft: LoopDraft, { data, unused }: Around): Json {
        const test = this.add(`${path}#${draft.test}`, draft.fn, 'test', Boolean)
        const body = this.block(draft.body, path, data, unused)
        return { body, test: { [draft.test]: test }, maxIterations: draft.maxIterations }
    }

    private each(path: string, draft: EachDraft, { data, unused }: Around): Json {
        const { concurrency, maxIterations } = draft
        const items = this.add(`${path}#items`, draft.items, 'items', listOf)
        const body = this.block(draft.body, path, data, unused)
        return { items, body, concurrency, ...(maxIterations === undefined ? {} : { maxIterations }) }
    }

    private parallel(path: string, draft: ParallelDraft, { data, unused }: Around): Json {
        if (draft.branches.length === 0) {
            refuse(`parallel \`${path}\` has no branches`, "add one with .branch('name', (b) => b.step(..))")
        }
        const firsts = draft.branches.map(([, drafts]) => this.resolved(drafts[0] as Draft))
        const ids = idsOf(firsts)
        const branches = draft.branches.map(([name, drafts], index) => {
            const lane = name ?? ids[index] ?? ''
            return { name: lane, block: this.block(drafts, `${path}/${lane}`, data, unused) }
        })
        const parallel: Json = { branches }
        if (draft.join !== 'all') parallel.join = draft.join === 'first' ? 'first' : { n: draft.join }
        if (draft.onFailure === 'collect') parallel.onFailure = 'collect'
        if (draft.finally !== undefined) parallel.finally = this.add(`${path}#finally`, draft.finally, 'finally')
        return parallel
    }

    private nestedWorkflow(path: string, draft: NestedDraft): Json {
        const data = this.referred(draft)
        const nested: Json = { workflow: data.name, block: this.workflow(data, path) }
        const { schema } = data
        // It judges what it is given, also if that is what the workflow around it was given.
        const input = draft.input ?? (schema === undefined ? undefined : sameInput)
        if (input !== undefined) {
            if (schema !== undefined) this.nested.set(path, schema)
            const after = schema === undefined ? undefined : inputFor(data.name, schema)
            nested.input = this.add(`${path}#input`, input, 'input', after)
        }
        if (data.onError !== undefined) nested.onError = this.add(`${path}#onError`, data.onError, 'onError')
        return nested
    }

    /** Keeps a function under a name that plans use. */
    private add(key: string, fn: Fn, role: Role, after?: (value: unknown) => unknown): string {
        const target: Target = { fn, role, source: sourceOf(fn) }
        if (after !== undefined) target.after = after
        this.functions.set(key, target)
        return key
    }
}

/** The block around a node. */
interface Around {
    at: string
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

const sameInput = ({ input }: { input: unknown }) => input

/** Whether another function before it has its name: after an edit, runs under way would take one for the other. */
function isMistakable(draft: Draft, before: Draft[]): boolean {
    if (draft.kind !== 'step' || draft.name !== undefined || isPredefined(draft.fn)) return false
    const isOther = (other: Draft) => other.kind === 'step' && other.name === undefined && other.base === draft.base
    return before.some((other) => isOther(other) && (other as StepDraft).fn !== draft.fn)
}
