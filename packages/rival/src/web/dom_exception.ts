/** `DOMException`: errors of the web's own functions. */

const CODES: Record<string, number> = {
    IndexSizeError: 1,
    NotFoundError: 8,
    NotSupportedError: 9,
    InvalidStateError: 11,
    SyntaxError: 12,
    InvalidAccessError: 15,
    TypeMismatchError: 17,
    SecurityError: 18,
    NetworkError: 19,
    AbortError: 20,
    URLMismatchError: 21,
    QuotaExceededError: 22,
    TimeoutError: 23,
    InvalidCharacterError: 5,
    DataCloneError: 25,
}

export class DOMException extends Error {
    readonly code: number

    constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
        super(message)
        const name = typeof options === 'string' ? options : (options.name ?? 'Error')
        Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true })
        if (typeof options === 'object' && 'cause' in options) this.cause = options.cause
        this.code = CODES[name] ?? 0
    }

    get [Symbol.toStringTag](): string {
        return 'DOMException'
    }
}
