import { createWorkflow, registerWorkflowFile, registerWorkflowsFromDirectory } from 'rival'
import { WorkflowRegistry } from 'rival'

declare function findTree(context: any): any
const workflow = createWorkflow('registered').step(findTree)

// Automatically discover and register all workflow files
registerWorkflowsFromDirectory('./workflows')

// Register a specific workflow file
registerWorkflowFile('./workflows/tree-processing.ts')

const registry = new WorkflowRegistry()
registry.register(workflow) // Register a workflow

const { runId } = registry.launch('registered', { treeType: 'oak' })

// From backend
const workflowActor = registry.getWorkflow(runId)
await workflowActor.cancel()

// From frontend (via registry)
await registry.cancel(runId)
