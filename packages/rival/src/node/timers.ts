/** `node:timers`: the globals. */
const web = globalThis as any
export const { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = web
export default { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout }
