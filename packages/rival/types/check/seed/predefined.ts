import { createWorkflow, httpStep, delayStep } from 'rival'

declare function validateInput(context: any): any
declare function processResponse(context: any): any
const workflow = createWorkflow('predefined')

// Builder API
workflow.step(httpStep({ url: 'https://api.example.com', method: 'GET' }))
workflow.step(delayStep({ seconds: 20 }))

// File-based API
export const steps = [
    validateInput,
    httpStep({ url: 'https://api.example.com/data', method: 'POST' }),
    delayStep({ seconds: 5 }),  // Wait 5 seconds
    processResponse
]
