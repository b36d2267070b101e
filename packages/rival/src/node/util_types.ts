/** `node:util/types`: what kind of object something is. */
function tagOf(value: unknown): string {
    return Object.prototype.toString.call(value).slice(8, -1)
}
const tagged = (...tags: string[]) => (value: unknown): boolean =>
    typeof value === 'object' && value !== null && tags.includes(tagOf(value))
const prototypeOfArrays = Object.getPrototypeOf(Uint8Array.prototype)

export const isAnyArrayBuffer = tagged('ArrayBuffer', 'SharedArrayBuffer')
export const isArrayBuffer = tagged('ArrayBuffer')
export const isArrayBufferView = (value: unknown): boolean => ArrayBuffer.isView(value)
export const isAsyncFunction = (value: unknown): boolean => typeof value === 'function' && /Async/.test(tagOf(value))
export const isBigInt64Array = tagged('BigInt64Array')
export const isBoxedPrimitive = tagged('Number', 'String', 'Boolean', 'BigInt', 'Symbol')
export const isDataView = tagged('DataView')
export const isDate = (value: unknown): boolean => value instanceof Date
export const isFloat64Array = tagged('Float64Array')
export const isGeneratorFunction = (value: unknown): boolean => typeof value === 'function' && /Generator/.test(tagOf(value))
export const isGeneratorObject = tagged('Generator')
export const isMap = (value: unknown): boolean => value instanceof Map
export const isNativeError = (value: unknown): boolean => value instanceof Error
export const isPromise = (value: unknown): boolean => value instanceof Promise
export const isProxy = (): boolean => false
export const isRegExp = (value: unknown): boolean => value instanceof RegExp
export const isSet = (value: unknown): boolean => value instanceof Set
export const isSharedArrayBuffer = tagged('SharedArrayBuffer')
export const isTypedArray = (value: unknown): boolean => prototypeOfArrays.isPrototypeOf(value)
export const isUint8Array = (value: unknown): boolean => value instanceof Uint8Array
export const isWeakMap = (value: unknown): boolean => value instanceof WeakMap
export const isWeakSet = (value: unknown): boolean => value instanceof WeakSet
export default {
    isAnyArrayBuffer, isArrayBuffer, isArrayBufferView, isAsyncFunction, isBoxedPrimitive, isDataView, isDate, isGeneratorFunction,
    isMap, isNativeError, isPromise, isProxy, isRegExp, isSet, isTypedArray, isUint8Array, isWeakMap, isWeakSet,
}
