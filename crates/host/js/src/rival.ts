/** The module `rival`. Its types are in ../types/rival.d.ts. */
import { author } from './rival/file.ts'
import { realm } from './realm.ts'

export { branch, delayStep, forEach, loop, parallel, signal, sleep } from './rival/blocks.ts'
export { httpStep } from './rival/http.ts'
export { registerWorkflowFile, registerWorkflowsFromDirectory } from './rival/registered.ts'
export { WorkflowRegistry } from './rival/registry.ts'
export { Results } from './rival/results.ts'
export { StepError } from './rival/step_error.ts'
export { createWorkflow, workflow } from './rival/workflow.ts'

realm().author = author
