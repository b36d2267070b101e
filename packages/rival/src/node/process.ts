/** `node:process`: the global. */
const process = (globalThis as any).process
export const { argv, browser, cwd, emitWarning, env, nextTick, platform, version, versions } = process
export default process
