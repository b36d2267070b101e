/** What files ask for while they are evaluated. */
import { needCaller, pathFrom } from './caller.ts'
import type { WorkflowData } from './data.ts'
import { FileReference } from './part.ts'
import * as read from './options.ts'

export interface Registered {
    workflow: WorkflowData
    /** Where that was said. */
    module: string | undefined
}

export interface Launch {
    module: string | undefined
    runId: string
    workflow: string
    input: unknown
}

export const registered: Registered[] = []
export const directories: { path: string; module: string }[] = []
export const files: FileReference[] = []
export const launches: Launch[] = []

/** All workflow files of a folder. */
export function registerWorkflowsFromDirectory(path: unknown): void {
    const module = needCaller('registerWorkflowsFromDirectory')
    directories.push({ path: pathFrom(module, read.text(path, 'registerWorkflowsFromDirectory')), module })
}

/** One workflow file. */
export function registerWorkflowFile(path: unknown): void {
    const module = needCaller('registerWorkflowFile')
    files.push(new FileReference(read.text(path, 'registerWorkflowFile'), module))
}
