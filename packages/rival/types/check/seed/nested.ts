import { createWorkflow } from 'rival'
import { workflow } from 'rival'

declare function sendEmail(context: any): any
declare function sendSms(context: any): any
declare function validateOrder(context: any): any
declare function finalizeOrder(context: any): any

// Reference a file-based workflow
const paymentFlow = workflow('./payment.ts')

// Or use a builder-created workflow directly
const notificationFlow = createWorkflow('notify').step(sendEmail).step(sendSms)

// Include in steps array - treated as a single step
export const steps = [
    validateOrder,
    paymentFlow,        // Runs entire payment workflow
    notificationFlow,   // Runs entire notification workflow
    finalizeOrder
]
