/** `node:timers/promises`. */
const web = globalThis as any

export function setTimeout(ms?: number, value?: unknown, options: { signal?: any } = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
        const { signal } = options
        if (signal?.aborted) return reject(signal.reason)
        const timer = web.setTimeout(() => resolve(value), ms)
        signal?.addEventListener('abort', () => {
            web.clearTimeout(timer)
            reject(signal.reason)
        })
    })
}
export function setImmediate(value?: unknown): Promise<unknown> {
    return setTimeout(0, value)
}
export const scheduler = { wait: (ms: number, options?: { signal?: any }) => setTimeout(ms, undefined, options) }
export default { scheduler, setImmediate, setTimeout }
