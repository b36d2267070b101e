import { Results } from 'rival'

export const results = Results<{
    findTree: { treeId: string; species: string }
    chopTree: { pieces: number }
}>()

function chopTree({ steps }: { steps: typeof results.Steps }) {
    steps.findTree.result.treeId   // ✓ fully typed
    return { pieces: 10 }
}

export const steps = [chopTree]
