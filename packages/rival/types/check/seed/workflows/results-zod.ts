// workflows/tree-processing.ts
import { z } from 'zod'
import { Results } from 'rival'

// Define result schemas with Zod
export const results = Results({
    findTree: z.object({ treeId: z.string(), species: z.string() }),
    chopTree: z.object({ pieces: z.number() })
})

function findTree({ input }): z.infer<typeof results.schemas.findTree> {
    return { treeId: 'oak-123', species: 'oak' }
}

function chopTree({ steps }: { steps: typeof results.Steps }) {
    steps.findTree.result.treeId   // ✓ fully typed, autocomplete works
    return { pieces: 10 }
}

export const steps = [findTree, chopTree]
