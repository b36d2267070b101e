/** What is imported of packages and of each other has no types here. */
declare module 'node:buffer' {
    export const Buffer: any
}
declare module 'node:util' {
    export function isDeepStrictEqual(a: unknown, b: unknown): boolean
}
declare module 'node:assert' {
    const assert: any
    export default assert
}
declare module 'node:events' {
    const EventEmitter: any
    export default EventEmitter
}
declare module 'node:stream' {
    export const promises: any
}
