/** The builder of a block: the workflow's own, or a branch of a parallel one. */
import { branchDraft, eachDraft, joinOf, loopDraft, newParallel, parallelDraft, signalDraft, sleepDraft } from './blocks.ts'
import { needCaller } from './caller.ts'
import { type WorkflowData, workflowOf } from './data.ts'
import * as read from './options.ts'
import { type Draft, draftOf, draftsOf, FileReference, nestedDraft, type ParallelDraft } from './part.ts'
import { kindOf, refuse } from './refuse.ts'

/** What may follow each other. Builders change in place: `workflow.step(a); workflow.step(b)` works as well. */
export class Block {
    readonly #nodes: Draft[]

    constructor(nodes: Draft[]) {
        this.#nodes = nodes
    }

    step(step: unknown): this {
        return this.#add(draftOf(step, 'step'))
    }

    steps(steps: unknown): this {
        if (!Array.isArray(steps)) refuse(`steps takes a list, not ${kindOf(steps)}`)
        this.#nodes.push(...draftsOf(steps, 'steps'))
        return this
    }

    /** With options, a whole block; with a name or nothing, one whose branches follow. */
    parallel(given?: unknown): this | ParallelBlock {
        if (typeof given === 'object' && given !== null) return this.#add(parallelDraft(given))
        const draft = newParallel(given === undefined ? undefined : read.text(given, 'the name of a parallel block'))
        this.#add(draft)
        return new ParallelBlock(this, draft)
    }

    branch(options: unknown): this {
        return this.#add(branchDraft(options))
    }

    loop(options: unknown): this {
        return this.#add(loopDraft(options))
    }

    forEach(options: unknown): this {
        return this.#add(eachDraft(options))
    }

    sleep(wait: unknown): this {
        return this.#add(sleepDraft(wait, 'sleep'))
    }

    signal(name: unknown, options: unknown = {}): this {
        return this.#add(signalDraft(name, options))
    }

    workflow(given: unknown, options: unknown = {}): this {
        const workflow = nestedFrom(given)
        const wanted = read.readOptions(options, 'workflow', { name: read.text, input: read.fn })
        return this.#add(nestedDraft(workflow, wanted))
    }

    #add(draft: Draft): this {
        this.#nodes.push(draft)
        return this
    }
}

function nestedFrom(given: unknown): WorkflowData | FileReference {
    if (given instanceof FileReference) return given
    if (typeof given === 'string') return new FileReference(given, needCaller('workflow'))
    const workflow = workflowOf(given)
    return workflow ?? refuse(`workflow takes a workflow or a file, not ${kindOf(given)}`, "write workflow('./file.ts')")
}

/** `.parallel("setup")`: takes branches until another method of the block around it is called. */
export class ParallelBlock {
    readonly #around: Block
    readonly #draft: ParallelDraft

    constructor(around: Block, draft: ParallelDraft) {
        this.#around = around
        this.#draft = draft
    }

    /** With a name and a function, a branch of this block; with options, a choice after it. */
    branch(name: unknown, fill?: unknown): this | Block {
        if (typeof name !== 'string') return this.#around.branch(name)
        const what = `branch '${name}'`
        const nodes: Draft[] = []
        if (typeof fill === 'function') fill(new Block(nodes))
        else if (fill !== undefined) nodes.push(...draftsOf(fill, what))
        if (nodes.length === 0) refuse(`${what} is empty`, `write .branch('${name}', (b) => b.step(yourStep))`)
        this.#draft.branches.push([name, nodes])
        return this
    }

    join(join: unknown): this {
        this.#draft.join = joinOf(join, 'join')
        return this
    }

    onFailure(what: unknown): this {
        this.#draft.onFailure = read.oneOf('fail', 'collect')(what, 'onFailure')
        return this
    }

    finally(fn: unknown): this {
        this.#draft.finally = read.fn(fn, 'finally')
        return this
    }

    /** The block that this one is part of. */
    static around(block: ParallelBlock): Block {
        return block.#around
    }
}
