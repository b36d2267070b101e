/** What frames ask for. */
import type { AbortFrame, Cx, DescribeFrame, ForgetFrame, ParseFrame } from '../native.ts'
import { type Author, type Functions, type Issue, type OpenFile, realm, type Schema } from '../realm.ts'
import { type Call, calls, currentCall, done, fail, open, opened, run, targetOf, youngest } from './call.ts'
import type { Builtins } from './builtins.ts'
import { native } from './native.ts'
import { enterTurn, release } from './ops.ts'

/** Calls a function; its file is evaluated first if it is not yet. `runInfo` is the JSON of its `context.run`. */
export function call(id: number, file: string, workflow: string, name: string, cx: Cx, runInfo: string): void {
    const call = open(id, cx, runInfo)
    enterTurn(youngest())
    const target = targetOf(file, workflow, name)
    if (target !== undefined) return run(call, target)
    load(call, file).then(
        () => {
            const target = targetOf(file, workflow, name) ?? realm().tests?.find(file, name)
            // Another call may have begun the evaluation that this one waited for.
            native.enter(call.id)
            if (target === undefined) fail(call, missing(file, workflow, name))
            else run(call, target)
        },
        (error) => fail(call, error),
    )
}

function missing(file: string, workflow: string, name: string): Error {
    const message = `${file} has no function \`${name}\` of workflow \`${workflow}\` any more`
    return Object.assign(new Error(message), { code: 'function_missing' })
}

/** Answers what a file defines. */
export function describe(frame: DescribeFrame): void {
    const call = open(frame.id, null, 'null')
    load(call, frame.file)
        .then(async () => (await author()).describe(frame.file, frame.entry))
        .then(
            (description) => done(call, description),
            (error) => fail(call, error),
        )
}

/** Answers what a workflow's schema makes of an input. */
export function parse(frame: ParseFrame): void {
    const call = open(frame.id, null, 'null')
    judge(call, frame).then(
        (value) => done(call, value),
        (error) => fail(call, error),
    )
}

async function judge(call: Call, frame: ParseFrame): Promise<{ value: unknown } | { issues: Issue[] }> {
    const file = await load(call, frame.file)
    const schema = file.workflows.get(frame.workflow)?.schema
    if (schema === undefined) return { value: frame.input }
    const parsed = await parsedInput(schema, frame.input)
    if (parsed.success) return { value: parsed.data ?? null }
    return { issues: parsed.error.issues.map(({ path, message, code }) => ({ path: path.map(plainKey), message, code })) }
}

/**
 * No input is `undefined` in JavaScript, which optional schemas and defaults look for; or an object whose fields all have
 * defaults.
 */
async function parsedInput(schema: Schema, input: unknown) {
    const parsed = await schema.safeParseAsync(input)
    if (parsed.success || input !== null) return parsed
    for (const nothing of [undefined, {}]) {
        const absent = await schema.safeParseAsync(nothing)
        if (absent.success) return absent
    }
    return parsed
}

function plainKey(key: PropertyKey): string | number {
    return typeof key === 'symbol' ? String(key) : key
}

/** Evaluates a file, once. Built-ins are frozen when it has been. */
async function load(call: Call, file: string): Promise<OpenFile> {
    const known = opened.get(file)
    if (known !== undefined) return known
    call.isLoading = true
    loading++
    native.evaluating(true)
    try {
        const loaded = await (await author()).open(file)
        freezeBuiltins()
        opened.set(file, loaded)
        return loaded
    } finally {
        native.evaluating(false)
        loading--
        call.isLoading = false
    }
}

/** How many files are being evaluated. */
let loading = 0

/** Until they are frozen. */
let builtins: Builtins | null = null
/** What is wrong with what the file has done to them: it is evaluated only once. */
let changedBuiltin: string | null = null

/** Called once, before any code of the author. */
export function keepBuiltins(kept: Builtins): void {
    builtins = kept
}

/** Throws if the file has done to them what it may not. */
export function judgeBuiltins(): void {
    if (builtins === null) return
    changedBuiltin ??= builtins.wrong()
    if (changedBuiltin === null) return
    builtins.restore()
    const advice = 'leave the language as it is: write functions of your own instead'
    const message = `the file ${changedBuiltin}: what its workflows record would not be what they return`
    throw Object.assign(new Error(message), { code: 'changed_builtin', details: { advice } })
}

function freezeBuiltins(): void {
    judgeBuiltins()
    // A test may stub what it likes in its own realm.
    if (realm().tests !== null) return
    builtins?.freeze()
    builtins = null
}

/** A workflow of a file that is evaluated, beside those that it defines. */
export function addWorkflow(file: string, key: string, workflow: Functions): void {
    opened.get(file)?.workflows.set(key, workflow)
}

/** What the module `rival` brings is built in, too. */
export function protect(objects: readonly object[]): void {
    builtins?.add('rival', objects)
}

/** What makes workflows of modules: the module `rival` brings it. */
async function author(): Promise<Author> {
    if (realm().author === null) await native.load('rival')
    return realm().author as Author
}

/** Whether the running macrotask evaluates a file. */
export function isLoading(): boolean {
    return currentCall()?.isLoading ?? loading > 0
}

/** Fires a call's `AbortSignal`. */
export function abort(frame: AbortFrame): void {
    const call = calls.get(frame.id)
    if (call === undefined) return
    if (!frame.keep) calls.delete(frame.id)
    call.abort(frame.reason)
    if (!frame.keep) release(call)
}

/** Lets go of a call. */
export function forget(frame: ForgetFrame): void {
    const call = calls.get(frame.id)
    if (call === undefined) return
    calls.delete(frame.id)
    release(call)
}
