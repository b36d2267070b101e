// workflows/tree-processing.ts
import { z } from 'zod'
import { findTree, chopTree } from '../steps/tree-steps'
import { validateInput } from '../steps/validation'

export const input = z.object({ treeType: z.string() })

// Add workflow-specific steps
function processTree({ steps }) {
    return { processed: true }
}

// Steps array defines execution order
export const steps = [validateInput, findTree, chopTree, processTree]
