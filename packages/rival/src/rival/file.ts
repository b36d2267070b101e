/** Files: which workflows a module defines. */
import { type Author, type Functions, type OpenFile, realm } from '../realm.ts'
import { type Compiled, compile, type References } from './compile.ts'
import { type WorkflowData, workflowOf } from './data.ts'
import * as read from './options.ts'
import { type Draft, draftOf, FileReference } from './part.ts'
import { closest, kindOf, placed, placedLater, refuse, WorkflowError } from './refuse.ts'
import { directories, files, launches, registered } from './registered.ts'
import { schemasOf } from './results.ts'
import { jsonSchema } from './schema.ts'
import { triggersOf } from './triggers.ts'

type Exports = Record<string, unknown>

/** A workflow that a file defines, and how. */
interface Found {
    compiled: Compiled
    exported: string | null
    registered: boolean
    /** The module that defines or registers it. */
    module: string
}

interface Opened extends OpenFile {
    found: Found[]
}

const opened = new Map<string, Promise<Opened>>()

export const author: Author = { open, describe, workflowOf, defines, describeBuilt }

function open(file: string): Promise<OpenFile> {
    return openFile(file)
}

/** A file that fails is tried again: what it imports may have been added since. */
function openFile(file: string): Promise<Opened> {
    let opening = opened.get(file)
    if (opening === undefined) {
        opening = evaluate(file)
        opened.set(file, opening)
        opening.catch(() => opened.delete(file))
    }
    return opening
}

async function evaluate(file: string): Promise<Opened> {
    const exports = await realm().native.load(file)
    // At once: with other built-ins, what follows may come to anything.
    realm().judgeBuiltins()
    const found: Found[] = []
    const seen = new Set<WorkflowData>()
    const add = async (data: WorkflowData, how: Omit<Found, 'compiled'>) => {
        if (seen.has(data)) return
        seen.add(data)
        found.push({ compiled: await compiled(data), ...how })
    }
    if (exports.steps !== undefined) {
        await add(fileWorkflow(file, exports), { exported: null, registered: true, module: file })
    }
    for (const [name, data] of exportedWorkflows(exports)) {
        const how = { exported: name, registered: true, module: file }
        await placedLater({ export: name }, () => add(data, how))
    }
    const modules = closure(file)
    for (const { workflow, module } of registered) {
        if (module === undefined || !modules.has(module) || (module !== file && isReferred(module))) continue
        await add(workflow, { exported: null, registered: true, module })
    }
    const workflows = found.map(({ compiled }): [string, Functions] => [compiled.data.name, compiled])
    return { workflows: new Map(workflows), found }
}

/** Whether files name a module as a workflow file of its own, which is then asked for by itself. */
function isReferred(module: string): boolean {
    return files.some((reference) => targetOf(reference) === module)
}

/** Workflows that were built and exported. */
function exportedWorkflows(exports: Exports): [string, WorkflowData][] {
    const all = Object.entries(exports).map(([name, value]) => [name, workflowOf(value)] as const)
    return all.filter((entry): entry is [string, WorkflowData] => entry[1] !== undefined)
}

/** A module and all that it leads to. */
function closure(file: string): Set<string> {
    const modules = new Set<string>()
    const ways = [file]
    for (let name = ways.pop(); name !== undefined; name = ways.pop()) {
        if (modules.has(name)) continue
        modules.add(name)
        ways.push(...Object.values(realm().native.source(name)?.links ?? {}))
    }
    return modules
}

async function compiled(data: WorkflowData): Promise<Compiled> {
    const references: References = new Map()
    await follow(data, references, new Set())
    return compile(data, references)
}

/** Evaluates the files that a workflow refers to, and those that these do. One that contains itself is found later. */
async function follow(data: WorkflowData, references: References, seen: Set<WorkflowData>): Promise<void> {
    if (seen.has(data)) return
    seen.add(data)
    for (const nested of nestedIn(data.nodes)) {
        if (nested instanceof FileReference) {
            const target = references.get(nested) ?? (await referred(nested))
            references.set(nested, target)
            await follow(target, references, seen)
        } else {
            await follow(nested, references, seen)
        }
    }
}

/** The workflows that a block runs in place. */
function nestedIn(drafts: Draft[]): (WorkflowData | FileReference)[] {
    return drafts.flatMap((draft) =>
        draft.kind === 'workflow' ? [draft.workflow] : blocksOf(draft).flatMap((block) => nestedIn(block)),
    )
}

function blocksOf(draft: Draft): Draft[][] {
    switch (draft.kind) {
        case 'branch':
            return [...draft.cases.map(([, drafts]) => drafts), draft.otherwise ?? []]
        case 'parallel':
            return draft.branches.map(([, drafts]) => drafts)
        case 'loop':
        case 'forEach':
            return [draft.body]
        default:
            return []
    }
}

/** The workflow of the file that a reference means. */
async function referred(reference: FileReference): Promise<WorkflowData> {
    const file = targetOf(reference)
    const exports = await realm().native.load(file)
    if (exports.steps !== undefined) return fileWorkflow(file, exports)
    const built = exportedWorkflows(exports)
    const chosen = built.find(([name]) => name === 'default') ?? (built.length === 1 ? built[0] : undefined)
    if (chosen !== undefined) return chosen[1]
    const problem = built.length === 0 ? 'has no `steps`' : 'exports several workflows and no default'
    return refuse(`${reference.path} ${problem}`, 'export `steps`, or the workflow as default')
}

function targetOf({ path, from }: FileReference): string {
    const target = realm().native.source(from)?.links[path]
    return target ?? refuse(`workflow('${path}') was not found`, 'write the path as a literal, such as ./payment.ts')
}

/** One for each file, so that a workflow that contains itself is recognised. */
const fileWorkflows = new Map<string, WorkflowData>()

/** The workflow that a file's exports make. */
function fileWorkflow(file: string, exports: Exports): WorkflowData {
    const known = fileWorkflows.get(file)
    if (known !== undefined) return known
    const data = fromExports(file, exports)
    fileWorkflows.set(file, data)
    return data
}

/** Exports that no file has for another reason; helpers may well be called `names` or `timeouts`. */
const UNMISTAKABLE = ['onError', 'maxRetries']

/** An export that is ignored because of a slip would be missed only when it is needed. */
function refuseMisspelt(exports: Exports): void {
    for (const name of Object.keys(exports)) {
        const meant = UNMISTAKABLE.includes(name) ? undefined : closest(name, UNMISTAKABLE)
        if (meant === undefined || meant in exports) continue
        placed({ export: name }, () => refuse(`the file exports \`${name}\``, `did you mean \`${meant}\`?`))
    }
}

function fromExports(file: string, exports: Exports): WorkflowData {
    refuseMisspelt(exports)
    const taken = <T>(name: string, take: (value: unknown, what: string) => T): T | undefined =>
        exports[name] === undefined ? undefined : placed({ export: name }, () => take(exports[name], `\`${name}\``))
    const names = realm().native.source(file)?.stepNames ?? []
    const found: Record<keyof WorkflowData, unknown> = {
        name: taken('name', read.text) ?? stem(file),
        module: file,
        isFile: true,
        nodes: withNames(stepsOf(exports.steps), names),
        schema: taken('input', read.schema),
        onError: taken('onError', read.fn),
        description: taken('description', read.text),
        timeoutMs: taken('timeout', read.duration),
        maxRetries: taken('maxRetries', read.countOrZero),
        triggers: taken('triggers', triggersOf),
        results: taken('results', schemasOf),
    }
    const present = Object.entries(found).filter(([, value]) => value !== undefined)
    return Object.fromEntries(present) as unknown as WorkflowData
}

function stepsOf(steps: unknown): Draft[] {
    if (!Array.isArray(steps) || steps.length === 0) {
        const problem = Array.isArray(steps) ? '`steps` is empty' : `\`steps\` must be a list, not ${kindOf(steps)}`
        return placed({ export: 'steps' }, () => refuse(problem, 'write export const steps = [first, second]'))
    }
    return steps.map((step, index) => placed({ export: 'steps', index }, () => draftOf(step, `steps[${index}]`)))
}

/** A nested workflow is known by the identifier that stands for it in `steps`. */
function withNames(drafts: Draft[], names: (string | null)[]): Draft[] {
    return drafts.map((draft, index) => {
        const identifier = names[index]
        return draft.kind === 'workflow' && identifier ? { ...draft, base: identifier } : draft
    })
}

/** `tree-processing` of `/workflows/tree-processing.ts`. */
function stem(file: string): string {
    return (file.split('/').pop() ?? file).replace(/\.[cm]?[jt]s$/, '')
}

/** What the parent wants to know. */
async function describe(file: string, entry: boolean): Promise<unknown> {
    const { found } = await openFile(file)
    const tests = realm().tests?.list(file) ?? []
    const modules = closure(file)
    const isHere = ({ module }: { module: string | undefined }) => module !== undefined && modules.has(module)
    if (found.length === 0 && tests.length === 0 && !entry) {
        const exported = Object.keys(await realm().native.load(file))
        const near = exported.find((name) => closest(name, ['steps']) !== undefined)
        const advice =
            near === undefined
                ? 'write export const steps = [ … ], or export a workflow made with createWorkflow(..)'
                : `it exports \`${near}\`: did you mean \`steps\`?`
        throw new WorkflowError('the file has no `steps`, and exports and registers no workflow', advice, 'no_steps')
    }
    return {
        workflows: await Promise.all(found.map(description)),
        directories: directories.filter(isHere).map(({ path }) => path),
        files: files.filter(({ from }) => modules.has(from)).map(targetOf),
        launches: launches.filter(isHere).map(({ runId, workflow, input }) => ({ runId, workflow, input: input ?? null })),
        tests,
    }
}

async function defines(file: string, value: unknown): Promise<boolean> {
    const { found } = await openFile(file)
    return found.some(({ compiled }) => compiled.data === workflowOf(value))
}

async function describeBuilt(value: unknown): Promise<{ functions: Functions; description: unknown }> {
    const data = workflowOf(value) ?? refuse(`a workflow is needed, not ${kindOf(value)}`, 'make one with createWorkflow(..)')
    const functions = await compiled(data)
    const found = { compiled: functions, exported: null, registered: true, module: data.module ?? '' }
    return { functions, description: await description(found) }
}

async function description({ compiled, exported, registered, module }: Found): Promise<object> {
    const { data, plan, functions, former, twins, schema, signals, nested } = compiled
    const at = { export: data.isFile ? 'input' : (exported ?? 'default') }
    const inputSchema =
        schema === undefined
            ? {}
            : { inputSchema: await placedLater(at, () => jsonSchema(schema, 'input', 'input')) }
    const signalSchemas: Record<string, unknown> = {}
    for (const [name, schema] of signals) signalSchemas[name] = await jsonSchema(schema, 'input', `signal ${name}`)
    const nestedSchemas: Record<string, unknown> = {}
    for (const [path, schema] of nested) nestedSchemas[path] = await jsonSchema(schema, 'output', path)
    return {
        name: data.name,
        exported,
        module,
        plan,
        description: data.description,
        ...inputSchema,
        parses: schema !== undefined,
        signalSchemas,
        nestedSchemas,
        functions: Object.fromEntries(
            Array.from(functions, ([key, { source, role, texts }]) => [key, { source, role, texts }]),
        ),
        ...(former === undefined
            ? {}
            : { former: { plan: former.plan, functions: Object.fromEntries(former.functions) } }),
        ...(twins.length === 0 ? {} : { twins }),
        triggers: data.triggers ?? [],
        registered,
    }
}
