/** The module `rival`. Its types are in ../types/rival.d.ts. */
import { author } from './rival/file.ts'
import { realm } from './realm.ts'
import { httpStep } from './rival/http.ts'
import { WorkflowRegistry } from './rival/registry.ts'
import { Results } from './rival/results.ts'
import { StepError } from './rival/step_error.ts'
import { createWorkflow, workflow } from './rival/workflow.ts'

export { branch, delayStep, forEach, loop, parallel, signal, sleep } from './rival/blocks.ts'
export { createWorkflow, httpStep, Results, StepError, workflow, WorkflowRegistry }
export { registerWorkflowFile, registerWorkflowsFromDirectory } from './rival/registered.ts'

realm().author = author
realm().protect([StepError, WorkflowRegistry, Results, createWorkflow, workflow, httpStep])
