/** What a test puts into the place of requests and of what steps do once. Outside of tests nothing is asked. */
import type { FetchAnswer } from '../native.ts'
import { realm } from '../realm.ts'
import { atob, btoa } from '../web/base64.ts'
import type { Request } from '../web/request.ts'
import { type Call, currentCall } from './call.ts'
import { native } from './native.ts'
import { ask, send } from './ops.ts'

/** A test lets the real thing happen. */
interface Real {
    real: true
}

/** A test's answer to a request, with its body in base64. */
interface AnswerText extends Omit<FetchAnswer, 'body'> {
    body: string
}

/** Whether this realm is part of a test. */
export function isInTest(): boolean {
    return native.virtualTime() !== null
}

/** What the test that this is part of answers to a request; null if the request is to be sent. */
export async function mockedAnswer(request: Request, body: Uint8Array | null): Promise<FetchAnswer | null> {
    if (currentCall()?.isLoading !== false) {
        // The requests of a test file are its own.
        if (realm().tests !== null) return null
        throw new TypeError(`${request.url}: a workflow file sends no requests while it is loaded in a test: send them in a step`)
    }
    const { url, method, headers, signal } = request
    const asked = ask('test.fetch', { url, method, headers: Array.from(headers), body: body && toBase64(body) })
    const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    const answer = (await Promise.race([asked, aborted])) as Real | AnswerText
    return 'real' in answer ? null : { ...answer, body: fromBase64(answer.body) }
}

/** What a test gives for something that is done once, or what doing it gives. */
export async function mockedOnce(call: Call, name: string, action: () => unknown): Promise<unknown> {
    const { answer } = send(call, 'test.once', { name }, false)
    const mocked = (await answer) as Real | { value: unknown }
    return 'real' in mocked ? action() : mocked.value
}

function toBase64(bytes: Uint8Array): string {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function fromBase64(text: string): Uint8Array {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
