/** `createWorkflow`: the builder of a workflow. */
import type { Schema } from '../realm.ts'
import { Block, ParallelBlock } from './block.ts'
import { callerModule, needCaller } from './caller.ts'
import { remember, type WorkflowData } from './data.ts'
import * as read from './options.ts'
import { FileReference } from './part.ts'
import { refuse } from './refuse.ts'
import { registered } from './registered.ts'
import { triggerOf } from './triggers.ts'

export class Workflow extends Block {
    readonly #data: WorkflowData

    constructor(data: WorkflowData) {
        super(data.nodes)
        this.#data = data
        remember(this, data)
    }

    get name(): string {
        return this.#data.name
    }

    input(schema: unknown): this {
        this.#data.schema = read.schema(schema, 'input') as Schema
        return this
    }

    description(text: unknown): this {
        this.#data.description = read.text(text, 'description')
        return this
    }

    onError(handler: unknown): this {
        this.#data.onError = read.fn(handler, 'onError')
        return this
    }

    timeout(duration: unknown): this {
        this.#data.timeoutMs = read.duration(duration, 'timeout')
        return this
    }

    maxRetries(count: unknown): this {
        this.#data.maxRetries = read.countOrZero(count, 'maxRetries')
        return this
    }

    /** Starts another workflow when a run has completed. */
    trigger(workflow: unknown, options: unknown = {}): this {
        this.#data.triggers = [...(this.#data.triggers ?? []), triggerOf(workflow, options, 'trigger')]
        return this
    }

    override parallel(given?: unknown): this | ParallelBlock {
        const block = super.parallel(given)
        // `export default createWorkflow(..).parallel(..).branch(..)` is the workflow.
        if (block instanceof ParallelBlock) remember(block, this.#data)
        return block
    }

    build(): this {
        if (this.#data.nodes.length === 0) refuse(`workflow \`${this.name}\` has no steps`, 'add one with .step(..)')
        return this
    }

    register(): this {
        this.build()
        registered.push({ workflow: this.#data, module: callerModule() })
        return this
    }
}

// A parallel block is closed by any method of the workflow around it that it does not have itself.
for (const method of [...methodsOf(Block), ...methodsOf(Workflow)]) {
    if (Object.hasOwn(ParallelBlock.prototype, method)) continue
    Object.defineProperty(ParallelBlock.prototype, method, {
        configurable: true,
        writable: true,
        value(this: ParallelBlock, ...given: unknown[]) {
            const around = ParallelBlock.around(this) as unknown as Record<string, (...given: unknown[]) => unknown>
            const found = around[method]
            if (found === undefined) refuse(`there is no ${method}(..) inside of a branch`)
            return found.apply(around, given)
        },
    })
}

Object.defineProperty(ParallelBlock.prototype, 'name', {
    configurable: true,
    get(this: ParallelBlock) {
        return (ParallelBlock.around(this) as { name?: string }).name
    },
})

function methodsOf(of: { prototype: object }): string[] {
    return Object.getOwnPropertyNames(of.prototype).filter((name) => name !== 'constructor' && name !== 'name')
}

/** Begins a workflow. */
export function createWorkflow(name: unknown): Workflow {
    const data: WorkflowData = { name: read.text(name, 'the name of a workflow'), nodes: [] }
    const module = callerModule()
    return new Workflow(module === undefined ? data : { ...data, module })
}

/** Another file's workflow, as a step. */
export function workflow(path: unknown): FileReference {
    return new FileReference(read.text(path, 'workflow'), needCaller('workflow'))
}
