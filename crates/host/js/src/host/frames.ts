/** What frames ask for. */
import type { AbortFrame, CallFrame, DescribeFrame, ForgetFrame, ParseFrame } from '../native.ts'
import { type Author, type Issue, type OpenFile, realm } from '../realm.ts'
import { type Call, calls, currentCall, done, fail, open, opened, run, targetOf } from './call.ts'
import { native } from './native.ts'
import { forgetAsked, forgetBegun } from './ops.ts'

/** Calls a function; its file is evaluated first if it is not yet. */
export function call(frame: CallFrame): void {
    const call = open(frame.id, frame.cx)
    const target = targetOf(frame)
    if (target !== undefined) return run(call, target)
    load(call, frame.file).then(
        () => {
            const target = targetOf(frame) ?? realm().tests?.find(frame.file, frame.function)
            // Another call may have begun the evaluation that this one waited for.
            native.enter(call.id)
            if (target === undefined) fail(call, missing(frame))
            else run(call, target)
        },
        (error) => fail(call, error),
    )
}

function missing(frame: CallFrame): Error {
    const workflow = `workflow \`${frame.workflow}\``
    const message = `${frame.file} has no function \`${frame.function}\` of ${workflow} any more`
    return Object.assign(new Error(message), { code: 'function_missing' })
}

/** Answers what a file defines. */
export function describe(frame: DescribeFrame): void {
    const call = open(frame.id, null)
    load(call, frame.file)
        .then(async () => (await author()).describe(frame.file, frame.entry))
        .then(
            (description) => done(call, description),
            (error) => fail(call, error),
        )
}

/** Answers what a workflow's schema makes of an input. */
export function parse(frame: ParseFrame): void {
    const call = open(frame.id, null)
    judge(call, frame).then(
        (value) => done(call, value),
        (error) => fail(call, error),
    )
}

async function judge(call: Call, frame: ParseFrame): Promise<{ value: unknown } | { issues: Issue[] }> {
    const file = await load(call, frame.file)
    const schema = file.workflows.get(frame.workflow)?.schema
    if (schema === undefined) return { value: frame.input }
    let parsed = await schema.safeParseAsync(frame.input)
    if (!parsed.success && frame.input === null) {
        // No input is `undefined` in JavaScript: that is what optional schemas and defaults look for.
        const absent = await schema.safeParseAsync(undefined)
        if (absent.success) parsed = absent
    }
    if (parsed.success) return { value: parsed.data ?? null }
    return { issues: parsed.error.issues.map(({ path, message, code }) => ({ path: path.map(plainKey), message, code })) }
}

function plainKey(key: PropertyKey): string | number {
    return typeof key === 'symbol' ? String(key) : key
}

/** Evaluates a file, once. */
async function load(call: Call, file: string): Promise<OpenFile> {
    const known = opened.get(file)
    if (known !== undefined) return known
    call.isLoading = true
    try {
        const loaded = await (await author()).open(file)
        opened.set(file, loaded)
        return loaded
    } finally {
        call.isLoading = false
    }
}

/** What makes workflows of modules: the module `rival` brings it. */
async function author(): Promise<Author> {
    if (realm().author === null) await native.load('rival')
    return realm().author as Author
}

/** Whether the running macrotask evaluates a file. */
export function isLoading(): boolean {
    return currentCall()?.isLoading ?? false
}

/** Fires a call's `AbortSignal`. */
export function abort(frame: AbortFrame): void {
    const call = calls.get(frame.id)
    if (call === undefined) return
    if (!frame.keep) {
        calls.delete(frame.id)
        forgetAsked(frame.id)
    }
    call.abort(frame.reason)
}

/** Lets go of a call. */
export function forget(frame: ForgetFrame): void {
    calls.delete(frame.id)
    forgetAsked(frame.id)
    forgetBegun(frame.id)
}
