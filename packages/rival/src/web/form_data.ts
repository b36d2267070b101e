/** `FormData`, and how it is sent. */
import { native } from '../host/native.ts'
import { Blob, File } from './blob.ts'
import { concat } from './bytes.ts'

type Entry = [string, string | File]

export class FormData {
    #entries: Entry[] = []

    append(name: unknown, value: unknown, fileName?: string): void {
        this.#entries.push([String(name), valueOf(value, fileName)])
    }

    delete(name: unknown): void {
        this.#entries = this.#entries.filter(([known]) => known !== String(name))
    }

    get(name: unknown): string | File | null {
        return this.#entries.find(([known]) => known === String(name))?.[1] ?? null
    }

    getAll(name: unknown): (string | File)[] {
        return this.#entries.filter(([known]) => known === String(name)).map(([, value]) => value)
    }

    has(name: unknown): boolean {
        return this.#entries.some(([known]) => known === String(name))
    }

    set(name: unknown, value: unknown, fileName?: string): void {
        const index = this.#entries.findIndex(([known]) => known === String(name))
        if (index < 0) return this.append(name, value, fileName)
        const entry: Entry = [String(name), valueOf(value, fileName)]
        this.#entries = this.#entries.filter(([known], at) => known !== entry[0] || at === index)
        this.#entries[this.#entries.findIndex(([known]) => known === entry[0])] = entry
    }

    forEach(callback: (value: string | File, name: string, form: FormData) => void, self?: unknown): void {
        for (const [name, value] of this) callback.call(self, value, name, this)
    }

    *entries(): IterableIterator<Entry> {
        yield* this.#entries.map(([name, value]): Entry => [name, value])
    }

    *keys(): IterableIterator<string> {
        for (const [name] of this.#entries) yield name
    }

    *values(): IterableIterator<string | File> {
        for (const [, value] of this.#entries) yield value
    }

    [Symbol.iterator](): IterableIterator<Entry> {
        return this.entries()
    }

    get [Symbol.toStringTag](): string {
        return 'FormData'
    }
}

function valueOf(value: unknown, fileName: string | undefined): string | File {
    if (!(value instanceof Blob)) return String(value)
    if (value instanceof File && fileName === undefined) return value
    return new File([value], fileName ?? 'blob', { type: value.type })
}

/** The form as a body, and its content type. */
export function encodeForm(form: FormData): { bytes: Uint8Array; type: string } {
    const boundary = `----rival-${native.uuid4()}`
    const parts: Uint8Array[] = []
    for (const [name, value] of form) {
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`
        if (typeof value === 'string') {
            parts.push(native.encode(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`))
        } else {
            const type = value.type === '' ? 'application/octet-stream' : value.type
            parts.push(native.encode(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`))
            parts.push(Blob.bytes(value), native.encode('\r\n'))
        }
    }
    parts.push(native.encode(`--${boundary}--\r\n`))
    return { bytes: concat(parts), type: `multipart/form-data; boundary=${boundary}` }
}

function quoted(text: string): string {
    return text.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
}
