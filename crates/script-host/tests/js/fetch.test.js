import { describe, expect, test } from 'rival/test'

const server = process.env.SERVER

describe('Headers', () => {
    test('know no case, and join', () => {
        const headers = new Headers({ 'Content-Type': ' text/plain ', b: 1 })
        headers.append('B', '2')
        headers.append('set-cookie', 'x=1')
        headers.append('set-cookie', 'y=2')
        expect(headers.get('content-TYPE')).toBe('text/plain')
        expect(headers.get('b')).toBe('1, 2')
        expect(headers.getSetCookie()).toEqual(['x=1', 'y=2'])
        expect([...headers]).toEqual([['b', '1, 2'], ['content-type', 'text/plain'], ['set-cookie', 'x=1'], ['set-cookie', 'y=2']])
        headers.set('b', 3)
        headers.delete('set-cookie')
        expect([...headers.keys()]).toEqual(['b', 'content-type'])
        expect(new Headers(headers).get('b')).toBe('3')
        expect(new Headers([['a', 'b']]).has('A')).toBe(true)
        expect(headers.get('none')).toBeNull()
    })

    test('refuse what is none', () => {
        for (const name of ['', 'a b', 'ä', 'a:']) expect(() => new Headers({ [name]: '1' })).toThrow(TypeError)
        for (const value of ['a\nb', '€', '\0']) expect(() => new Headers({ a: value })).toThrow(TypeError)
        expect(() => new Headers([['a']])).toThrow(TypeError)
    })
})

describe('Request and Response', () => {
    test('hold what they were given', async () => {
        const request = new Request('http://x/a', { method: 'post', body: 'é', headers: { a: 'b' } })
        expect([request.method, request.url, request.headers.get('content-type')]).toEqual(['POST', 'http://x/a', 'text/plain;charset=UTF-8'])
        const copy = request.clone()
        expect(await request.text()).toBe('é')
        expect(request.bodyUsed).toBe(true)
        await expect(request.text()).rejects.toThrow('already been read')
        expect([...(await copy.bytes())]).toEqual([195, 169])
        const other = new Request(new Request('http://x/', { headers: { a: '1' } }), { method: 'DELETE' })
        expect([other.method, other.headers.get('a')]).toEqual(['DELETE', '1'])
        for (const wrong of [{ method: 'TRACE' }, { method: 'a b' }, { body: 'x' }, { redirect: 'x' }, { signal: {} }]) {
            expect(() => new Request('http://x/', wrong)).toThrow(TypeError)
        }
        expect(() => new Request('nonsense')).toThrow(TypeError)
    })

    test('have bodies of all kinds', async () => {
        const blob = new Blob(['a', new Uint8Array([98]), new Blob(['c'])], { type: 'Text/X' })
        const cases = [
            [new URLSearchParams({ a: 'b c' }), 'a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
            [new Uint8Array([104, 105]).buffer, 'hi', null],
            [blob, 'abc', 'text/x'],
            [null, '', null],
            [7, '7', 'text/plain;charset=UTF-8'],
        ]
        for (const [body, text, type] of cases) {
            const response = new Response(body)
            expect(response.headers.get('content-type')).toBe(type)
            expect(await response.clone().text()).toBe(text)
            expect((await response.arrayBuffer()).byteLength).toBe(text.length)
        }
        expect([blob.size, blob.type, await blob.slice(1, 2).text()]).toEqual([3, 'text/x', 'b'])
        expect(await (await new Response('x').blob()).text()).toBe('x')
        expect((await new Response(new URLSearchParams('a=1')).formData()).get('a')).toBe('1')
    })

    test('answer', async () => {
        const response = Response.json({ a: 1 }, { status: 201, headers: { x: 'y' } })
        expect([response.status, response.ok, response.headers.get('content-type')]).toEqual([201, true, 'application/json'])
        expect(await response.json()).toEqual({ a: 1 })
        expect(Response.redirect('http://x/y').headers.get('location')).toBe('http://x/y')
        expect(Response.error().type).toBe('error')
        expect(() => new Response('x', { status: 204 })).toThrow(TypeError)
        expect(() => new Response('x', { status: 99 })).toThrow(RangeError)
        await expect(new Response('{').json()).rejects.toThrow(SyntaxError)
    })
})

describe('fetch', () => {
    test('sends and receives', async () => {
        const response = await fetch(`${server}/echo?a=1#part`, { method: 'POST', body: JSON.stringify({ n: 1 }), headers: { 'X-A': 'é' } })
        expect([response.status, response.statusText, response.ok, response.url]).toEqual([200, 'OK', true, `${server}/echo?a=1`])
        expect(response.headers.get('content-type')).toBe('application/json')
        const { method, path, headers, body } = await response.json()
        expect([method, path, body]).toEqual(['POST', '/echo?a=1', '{"n":1}'])
        expect(headers['x-a']).toBe('é')
        expect(headers['content-type']).toBe('text/plain;charset=UTF-8')
    })

    test('takes a URL or a Request', async () => {
        expect((await (await fetch(new URL('/echo', server))).json()).method).toBe('GET')
        const request = new Request(`${server}/echo`, { method: 'PUT', body: 'x' })
        expect((await (await fetch(request, { headers: { a: '1' } })).json()).body).toBe('x')
    })

    test('sends forms', async () => {
        const form = new FormData()
        form.append('a', 'b\nc')
        form.append('file', new File(['data'], 'x"y.txt', { type: 'text/plain' }))
        const { headers, body } = await (await fetch(`${server}/echo`, { method: 'POST', body: form })).json()
        const boundary = /boundary=(.+)$/.exec(headers['content-type'])[1]
        expect(body).toContain(`--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\nc\r\n`)
        expect(body).toContain('name="file"; filename="x%22y.txt"\r\nContent-Type: text/plain\r\n\r\ndata\r\n')
    })

    test('gives every status as an answer', async () => {
        const response = await fetch(`${server}/status/404`)
        expect([response.status, response.ok, await response.text()]).toEqual([404, false, 'status 404'])
        expect((await fetch(`${server}/status/204`)).status).toBe(204)
    })

    test('follows redirects as it is told', async () => {
        const response = await fetch(`${server}/redirect`)
        expect([response.redirected, response.url]).toEqual([true, `${server}/echo`])
        const manual = await fetch(`${server}/redirect`, { redirect: 'manual' })
        expect([manual.status, manual.headers.get('location')]).toEqual([302, '/echo'])
        await expect(fetch(`${server}/redirect`, { redirect: 'error' })).rejects.toThrow('redirects')
    })

    test('fails as a TypeError', async () => {
        for (const [url, code] of [['http://127.0.0.1:1/', 'http_connect'], ['ftp://x/', 'http_request'], [`${server}/cut`, 'http_broken']]) {
            const error = await fetch(url).catch((error) => error)
            expect(error).toBeInstanceOf(TypeError)
            expect([error.message.startsWith('fetch failed'), error.code]).toEqual([true, code])
        }
        await expect(fetch('nonsense')).rejects.toThrow('Invalid URL')
    })

    test('is stopped by its signal', async () => {
        const controller = new AbortController()
        const pending = fetch(`${server}/hang`, { signal: controller.signal })
        controller.abort(new Error('enough'))
        await expect(pending).rejects.toThrow('enough')
        await expect(fetch(`${server}/echo`, { signal: controller.signal })).rejects.toThrow('enough')
        await expect(fetch(`${server}/hang`, { signal: AbortSignal.timeout(5) })).rejects.toMatchObject({ name: 'TimeoutError' })
    })

    test('does many at a time', async () => {
        const all = Array.from({ length: 50 }, async (_, n) => (await (await fetch(`${server}/echo?n=${n}`)).json()).path)
        expect(await Promise.all(all)).toEqual(Array.from({ length: 50 }, (_, n) => `/echo?n=${n}`))
    })
})

describe('Streams', () => {
    const all = async (stream) => {
        const chunks = []
        for await (const chunk of stream) chunks.push(chunk)
        return chunks
    }
    const text = async (stream) => {
        let all = ''
        for await (const chunk of stream.pipeThrough(new TextDecoderStream())) all += chunk
        return all
    }

    test('are the bodies of answers', async () => {
        const response = await fetch(`${server}/echo`, { method: 'POST', body: 'some text' })
        expect(response.body instanceof ReadableStream).toBe(true)
        const reader = response.body.getReader()
        expect(response.body.locked).toBe(true)
        await expect(response.text()).rejects.toThrow('already been read')
        const decoder = new TextDecoder()
        let all = ''
        for (;;) {
            const { done, value } = await reader.read()
            if (done) break
            expect(value instanceof Uint8Array).toBe(true)
            all += decoder.decode(value, { stream: true })
        }
        expect(all.length > 0).toBe(true)
        expect(response.bodyUsed).toBe(true)
    })

    test('are there before and after, once', async () => {
        const response = new Response('abc')
        expect(response.body).toBe(response.body)
        expect(response.bodyUsed).toBe(false)
        const copy = response.clone()
        expect(await response.text()).toBe('abc')
        expect(response.bodyUsed).toBe(true)
        expect(await text(copy.body)).toBe('abc')
        expect(copy.bodyUsed).toBe(true)
        expect(new Response(null).body).toBeNull()
        expect(new Response('').body instanceof ReadableStream).toBe(true)
    })

    test('can be sent and collected', async () => {
        const parts = () => ReadableStream.from(['a', 'b', 'c'].map((part) => new TextEncoder().encode(part)))
        expect(await new Response(parts()).text()).toBe('abc')
        const response = new Response(parts())
        const copy = response.clone()
        expect([await response.text(), await copy.text()]).toEqual(['abc', 'abc'])
        const sent = await fetch(`${server}/echo`, { method: 'POST', body: parts(), duplex: 'half' })
        expect((await sent.text()).includes('abc')).toBe(true)
    })

    test('go through others, split, and end early', async () => {
        const numbers = () => ReadableStream.from([1, 2, 3])
        const doubled = new TransformStream({ transform: (n, controller) => controller.enqueue(n * 2) })
        expect(await all(numbers().pipeThrough(doubled))).toEqual([2, 4, 6])
        const [one, two] = numbers().tee()
        expect(await all(one)).toEqual([1, 2, 3])
        expect(await all(two)).toEqual([1, 2, 3])
        const written = []
        await numbers().pipeTo(new WritableStream({ write: (n) => void written.push(n), close: () => void written.push('end') }))
        expect(written).toEqual([1, 2, 3, 'end'])
        let reason
        const endless = new ReadableStream({ pull: (it) => it.enqueue(1), cancel: () => void (reason = 'cancelled') })
        for await (const _ of endless) break
        expect(reason).toBe('cancelled')
        const broken = () => new ReadableStream({ pull: (it) => it.error(new Error('broken')) })
        await expect(broken().getReader().read()).rejects.toThrow('broken')
        await expect(broken().pipeTo(new WritableStream())).rejects.toThrow('broken')
    })

    // As ofetch does: without a `body` it takes an answer for an empty one.
    test('tell that there is a body', async () => {
        const response = await fetch(`${server}/echo`, { method: 'POST', body: '{"a":1}' })
        const hasBody = (response.body || response._bodyInit) && ![101, 204, 205, 304].includes(response.status)
        const data = hasBody ? await response.text() : undefined
        expect(typeof data).toBe('string')
    })
})
