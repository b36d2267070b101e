/** `node:stream`. */
// @ts-expect-error It has no types.
import Stream from '../../node_modules/readable-stream/lib/ours/browser.js'

export const { Duplex, PassThrough, Readable, Transform, Writable } = Stream
export const { addAbortSignal, compose, destroy, finished, isDisturbed, isErrored, isReadable, pipeline, promises } = Stream
export { Stream }
export default Stream
