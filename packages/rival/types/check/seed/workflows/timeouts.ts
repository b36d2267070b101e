declare function findTree(context: any): any
declare function chopTree(context: any): any

export const steps = [
    { fn: findTree, timeout: 30000 },  // 30 seconds
    { fn: chopTree, timeout: 60000, onTimeout: 'retry', maxAttempts: 3, backoff: 'exponential' },
]
