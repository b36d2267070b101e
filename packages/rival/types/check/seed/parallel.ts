// Seed 003.
import { createWorkflow } from 'rival'

declare function createDatabaseUser(context: any): any
declare function sendWelcomeEmail(context: any): any
declare function postSetup(context: any): any
const createCRMProfileWorkflow = createWorkflow('crm').step(createDatabaseUser)

const wf = createWorkflow("userSetup")
  .parallel("setup")
    .branch("db", (b) => b.step(createDatabaseUser))
    .branch("crm", (b) => b.workflow(createCRMProfileWorkflow))
    .branch("email", (b) => b.step(sendWelcomeEmail))
    .join("all")
    .finally((ctx) => ({ branchCount: 3 }))
  .step(postSetup)
  .build();
