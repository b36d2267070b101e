/**
 * The module `rival/document`. Its types are in ../types/rival-document.d.ts.
 *
 * It is apart from `rival` because it needs zod, which every realm would otherwise evaluate.
 */
export { StepSchema, TriggerSchema, WorkflowSchema } from './document/schema.ts'
