import { createWorkflow } from 'rival'
import { z } from 'zod'

declare function findTree(context: any): any
declare function chopTree(context: any): any
declare function processTree(context: any): any
declare function customErrorHandler(failure: any): any
declare function slackError(failure: any): any
declare function validateOrder(context: any): any
declare function processPayment(context: any): any
declare function shipOrder(context: any): any
declare function notifyCustomer(context: any): any
declare function cancelOrder(context: any): any
declare function fetchBatch(context: any): any
declare function processBatch(context: any): any
declare function fetchNextBatch(context: any): any
declare function sendEmail(context: any): any
declare function sendSms(context: any): any
declare function updateCRM(context: any): any
declare function finalize(context: any): any
declare function sendToPaymentTeam(text: string): void;

{
    const workflow = createWorkflow('myWorkflow')
        .input(z.object({
            treeType: z.string(),
            location: z.string().optional()
        }))
        .step(findTree)
        .step(chopTree)
        .register()
}

{
    // Example with Zod schema
    const workflow = createWorkflow('processOrder')
        .input(z.object({
            orderId: z.string().uuid(),
            quantity: z.number().min(1),
            priority: z.enum(['low', 'medium', 'high']).optional()
        }))
        .step(validateOrder)
        .step(processPayment)
        .register()
}

const workflow = createWorkflow('batch')
workflow.step(findTree)
workflow.step(chopTree)

workflow.steps([
    { fn: findTree, timeout: 30000, onTimeout: 'retry', maxAttempts: 3 },
    { fn: chopTree, onError: slackError },
    { fn: processTree }
])

workflow.steps([findTree, chopTree, processTree])

// Error handler function
function notifyPaymentTeam({ error, failedStep, workflowState }) {
    // Step-specific notification
    sendToPaymentTeam(`Payment step failed: ${error.message}`)
}

// Attach to step via config object
workflow.step({ fn: processPayment, onError: notifyPaymentTeam })

{
    const workflow = createWorkflow('treeProcessing')
        .input(z.object({
            treeType: z.string(),
            location: z.string()
        }))
        .steps([
            { fn: findTree, timeout: 30000, onTimeout: 'retry', maxAttempts: 3 },
            { fn: chopTree },
            { fn: processTree, onError: customErrorHandler }
        ])
        .register()
}

workflow
    .step(validateOrder)
    .branch({
        name: 'checkValid',
        if: ({ steps }) => steps.validateOrder.result.isValid,
        then: [processPayment, shipOrder],
        else: [notifyCustomer, cancelOrder]
    })

workflow
    .step(fetchBatch)
    .loop({
        name: 'processBatches',
        body: [processBatch, fetchNextBatch],
        until: ({ steps }) => steps.fetchNextBatch.result.done
    })

workflow
    .step(validateOrder)
    .parallel({
        name: 'notifications',
        steps: [sendEmail, sendSms, updateCRM]
    })
    .step(finalize)
