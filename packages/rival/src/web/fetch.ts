/** `fetch`. */
import { isInTest, mockedAnswer } from '../host/doubles.ts'
import { native } from '../host/native.ts'
import { begin, stop } from '../host/ops.ts'
import type { FetchAnswer, NativeError } from '../native.ts'
import { Body } from './body.ts'
import { DOMException } from './dom_exception.ts'
import { Request, type RequestInit } from './request.ts'
import { Response } from './response.ts'

/** Sends a request; the answer is there when all of it is. */
export async function fetch(input: unknown, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    const { signal } = request
    signal.throwIfAborted()
    const sent = Body.sent(request)
    // What is there at once is sent at once.
    const body = sent instanceof Promise ? await sent : sent
    if (isInTest()) {
        const mocked = await mockedAnswer(request, body)
        if (mocked !== null) return Response.of(mocked)
    }
    const answer = await new Promise<FetchAnswer>((resolve, reject) => {
        const over = () => reject(new DOMException('the call that made this request is over', 'AbortError'))
        const begun = begin((error, value) => {
            signal.removeEventListener('abort', aborted)
            if (error === null) resolve(value as FetchAnswer)
            else reject(failure(error as NativeError))
        }, over)
        if (begun === null) return over()
        const { op, owner } = begun
        const aborted = () => {
            stop(op)
            reject(signal.reason)
        }
        signal.addEventListener('abort', aborted, { once: true })
        native.fetch(op, owner, stated(request), body)
    })
    return Response.of(answer)
}

function stated({ url, method, headers, redirect }: Request): string {
    return JSON.stringify({ url, method, headers: Array.from(headers), redirect })
}

function failure({ message, code }: NativeError): Error {
    return Object.assign(new TypeError(message), { code })
}
