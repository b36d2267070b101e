/** Bytes: put together, compared, looked at. */

export type BufferSource = ArrayBuffer | ArrayBufferView

export function isBufferSource(value: unknown): value is BufferSource {
    return value instanceof ArrayBuffer || ArrayBuffer.isView(value)
}

/** The bytes themselves, not a copy. */
export function viewOf(source: BufferSource): Uint8Array {
    if (source instanceof ArrayBuffer) return new Uint8Array(source)
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength)
}

export function copyOf(source: BufferSource): Uint8Array {
    return viewOf(source).slice()
}

export function concat(parts: Uint8Array[]): Uint8Array {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
        whole.set(part, at)
        at += part.length
    }
    return whole
}
