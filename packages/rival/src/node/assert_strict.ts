/** `node:assert/strict`. */
import assert from 'node:assert'

export const { AssertionError, deepStrictEqual, doesNotMatch, doesNotReject, doesNotThrow, fail, ifError, match, ok } = assert.strict
export const { deepEqual, equal, notDeepEqual, notEqual, notDeepStrictEqual, notStrictEqual, rejects, strictEqual, throws } = assert.strict
export default assert.strict
