/** `crypto`: what is random. The rest is made when it is first asked for. */
import { native } from '../host/native.ts'
import { viewOf } from './bytes.ts'
import { DOMException } from './dom_exception.ts'

const BYTES_MAX = 65_536

export const crypto = {
    get subtle(): unknown {
        return native.namespace('rival:subtle').subtle
    },

    randomUUID(): string {
        return native.uuid4()
    },

    getRandomValues<T extends ArrayBufferView>(array: T): T {
        const isInteger = ArrayBuffer.isView(array) && !(array instanceof DataView) && !isFloat(array)
        if (!isInteger) throw new DOMException('getRandomValues fills arrays of integers', 'TypeMismatchError')
        if (array.byteLength > BYTES_MAX) {
            throw new DOMException(`getRandomValues fills at most ${BYTES_MAX} bytes`, 'QuotaExceededError')
        }
        viewOf(array).set(native.random(array.byteLength))
        return array
    },
}

function isFloat(array: unknown): boolean {
    return array instanceof Float32Array || array instanceof Float64Array
}
