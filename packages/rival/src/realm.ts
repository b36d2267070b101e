/**
 * What the prelude and the modules `rival` and `rival/test` share. They are bundled apart; those two import this file from
 * the prelude (`rival:prelude`), which the files of authors cannot import.
 */
import type { Native, Role } from './native.ts'

export interface Realm {
    readonly native: Native
    /** Asks the parent for something, for the running call. */
    ask(kind: string, args: unknown): Promise<unknown>
    /** Tells the parent something of the running call that it does not answer. */
    tell(kind: string, args: unknown): void
    /** Whether the running macrotask evaluates a file, rather than being part of a call. */
    isLoading(): boolean
    /** Throws if the code that was evaluated has done to built-ins what it may not. */
    judgeBuiltins(): void
    /** Adds a workflow to those of a file that is evaluated; the parent knows it by this key. */
    addWorkflow(file: string, key: string, workflow: Functions): void
    /** Adds to what is frozen when the file has been evaluated. */
    protect(objects: readonly object[]): void
    /** What makes workflows of modules; set by the module `rival`. */
    author: Author | null
    /** Tests and mocks; set by the module `rival/test`. */
    tests: Tests | null
    /** Gives values as people read them. */
    inspect(value: unknown): string
    /** The frames of an error in generated code. */
    framesOf(error: Error): string
}

/** Makes workflows of modules. */
export interface Author {
    /** Evaluates a file and gives what it defines; always the same answer within a realm. */
    open(file: string): Promise<OpenFile>
    /** What the parent wants to know of a file. */
    describe(file: string, entry: boolean): Promise<unknown>
    /** The workflow that a value stands for, and the module that made it. */
    workflowOf(value: unknown): { name: string; module?: string } | undefined
    /** Whether a file defines the workflow that a value stands for. */
    defines(file: string, value: unknown): Promise<boolean>
    /** A workflow that no file defines: its functions, and what the parent wants to know of it. */
    describeBuilt(value: unknown): Promise<{ functions: Functions; description: unknown }>
}

/** A file that was evaluated. */
export interface OpenFile {
    /** The functions of its workflows, by workflow and key. */
    workflows: Map<string, Functions>
}

export interface Functions {
    functions: Map<string, Target>
    /** Judges an input. */
    schema: Schema | undefined
}

/** A function of a plan. */
export interface Target {
    fn: (context: any) => unknown
    role: Role
    /** Makes of what it returned what the engine expects. */
    after?: (value: any) => unknown
    /** The text from which is read what it uses; its own if absent. */
    source?: string
    /** The texts of the author's functions that it calls with its own context, if it is not the author's itself. */
    texts?: string[]
}

export interface Tests {
    list(file: string): { name: string; key: string }[]
    find(file: string, key: string): Target | undefined
}

/** What we use of zod's schemas. */
export interface Schema {
    safeParseAsync(value: unknown): Promise<
        { success: true; data: unknown } | { success: false; error: { issues: Issue[] } }
    >
}

export interface Issue {
    path: PropertyKey[]
    message: string
    code: string
}

let installed: Realm

/** Called once, by the prelude. */
export function install(realm: Realm): void {
    installed = realm
}

/** The realm that this code runs in. */
export function realm(): Realm {
    return installed
}
