/** The module `rival/test`. Its types are in ../types/rival-test.d.ts. */
import { realm } from './realm.ts'
import { tests } from './test/tests.ts'

export { expect } from './test/expect.ts'
export { advance, runWorkflow, startWorkflow } from './test/run.ts'
export { describe, test } from './test/tests.ts'

realm().tests = tests
