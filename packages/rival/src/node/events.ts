/** `node:events`. */
// @ts-expect-error It has no types.
import Events from '../../node_modules/events/events.js'

const EventEmitter: any = Events
export const { defaultMaxListeners, listenerCount, once } = EventEmitter
export { EventEmitter }
export default EventEmitter
