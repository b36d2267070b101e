// How step functions use their context.
declare const tree: any, choppedTree: any, processed: any

{
    function findTree(context) {
        // Access context properties
        console.log('finding tree')
        return tree
    }
}

{
    // Destructure specific properties
    function findTree({ lastStep, steps }) {
        // Use lastStep and steps
        console.log('finding tree')
        return tree
    }
}

{
    // Or use spread syntax to get everything
    function findTree(context) {
        const { lastStep, steps, ...rest } = context
        // Access any context properties
        return tree
    }
}

{
    // Access specific step by name (preferred)
    function processTree({ steps }) {
        const tree = steps.findTree.result
        const chopped = steps.chopTree.result
        // process both
        return processed
    }

    // Access step state
    function analyze({ steps }) {
        const count = steps.findTree.state.count
        return { count }
    }

    // Shorthand: Access previous step result (use for simple linear flows)
    function chopTree({ lastStep }) {
        const tree = lastStep.result
        // chop the tree
        return choppedTree
    }

    // Combine explicit and shorthand
    function complexStep({ lastStep, steps }) {
        const previous = lastStep.result
        const specific = steps.findTree.result
        return { previous, specific }
    }
}

{
    // Set description for UI display
    function chopTree({ steps, state }) {
        const tree = steps.findTree.result
        const pieces = 10

        // Set human-readable description
        state.description = `Chopped tree ${tree.treeId} into ${pieces} pieces`

        return { chopped: true, pieces }
    }
}

{
    function sendUrgentAlert({ input, state }) {
        if (input.priority !== 'high') {
            state.skipped = true
            state.description = 'Skipped: priority is not high'
            return null
        }

        // ... send alert
        return { sent: true }
    }
}

declare function findTreeInDatabase(type: string): any;
{
    function findTree({ input, log }) {
        log.info({ treeType: input.treeType }, 'Searching for tree')

        const tree = findTreeInDatabase(input.treeType)

        log.debug({ treeId: tree.id }, 'Tree found')
        return tree
    }
}

declare function fetchBatch(): any
declare function processBatch(batch: any): any;
{
    function processAllBatches({ input }) {
        let done = false
        while (!done) {
            const batch = fetchBatch()
            processBatch(batch)
            done = batch.isLast
        }
        return { processed: true }
    }
}
