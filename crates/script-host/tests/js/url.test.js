import { describe, expect, test } from 'rival/test'

describe('URL', () => {
    test('has parts', () => {
        const url = new URL('../b?x=1&y=ä#top', 'https://ada:pw@example.com:8080/a/c/d')
        expect(url.href).toBe('https://ada:pw@example.com:8080/a/b?x=1&y=%C3%A4#top')
        expect(url.origin).toBe('https://example.com:8080')
        expect([url.protocol, url.host, url.hostname, url.port]).toEqual(['https:', 'example.com:8080', 'example.com', '8080'])
        expect([url.username, url.password, url.pathname, url.search, url.hash]).toEqual(['ada', 'pw', '/a/b', '?x=1&y=%C3%A4', '#top'])
        expect(JSON.stringify({ url })).toBe(`{"url":"${url.href}"}`)
    })

    test('can be changed', () => {
        const url = new URL('http://example.com/')
        url.pathname = '/a b'
        url.search = 'q=1'
        url.port = '81'
        url.protocol = 'https'
        expect(String(url)).toBe('https://example.com:81/a%20b?q=1')
        url.host = ''
        expect(url.host).toBe('example.com:81')
        url.href = 'ftp://x/'
        expect(url.protocol).toBe('ftp:')
        expect(() => { url.href = 'nonsense' }).toThrow(TypeError)
    })

    test('refuses what is none', () => {
        expect(() => new URL('/relative')).toThrow('Invalid URL')
        expect(URL.canParse('x:y')).toBe(true)
        expect(URL.canParse('y')).toBe(false)
        expect(URL.parse('y')).toBeNull()
    })

    test('and its query change together', () => {
        const url = new URL('http://x/?a=1&b=2')
        const params = url.searchParams
        params.append('c', 'ö &')
        params.delete('a')
        expect(url.search).toBe('?b=2&c=%C3%B6+%26')
        url.search = '?z=9'
        expect([...params]).toEqual([['z', '9']])
        params.delete('z')
        expect(url.href).toBe('http://x/')
        expect(url.searchParams).toBe(params)
    })
})

describe('URLSearchParams', () => {
    test('reads texts, objects, pairs and others of its kind', () => {
        for (const init of ['a=1&b=2+3', '?a=1&b=2%203', { a: 1, b: '2 3' }, [['a', 1], ['b', '2 3']], new URLSearchParams('a=1&b=2+3')]) {
            expect(new URLSearchParams(init).toString()).toBe('a=1&b=2+3')
        }
    })

    test('reads what is not well formed', () => {
        const params = new URLSearchParams('a=%zz&b=%ff&&c&=d&e=f=g')
        expect([...params]).toEqual([['a', '%zz'], ['b', '\ufffd'], ['c', ''], ['', 'd'], ['e', 'f=g']])
    })

    test('has all its methods', () => {
        const params = new URLSearchParams('a=1&b=2&a=3')
        expect(params.size).toBe(3)
        expect(params.get('a')).toBe('1')
        expect(params.get('x')).toBeNull()
        expect(params.getAll('a')).toEqual(['1', '3'])
        expect([params.has('a', '3'), params.has('a', '4'), params.has('b')]).toEqual([true, false, true])
        params.set('a', 5)
        expect(params.toString()).toBe('a=5&b=2')
        params.append('A', "!'()~*")
        params.sort()
        expect(params.toString()).toBe('A=%21%27%28%29%7E*&a=5&b=2')
        expect([...params.keys()]).toEqual(['A', 'a', 'b'])
        expect([...params.values()].length).toBe(3)
        const seen = []
        params.forEach((value, name) => seen.push(name + value))
        expect(seen[1]).toBe('a5')
        params.delete('a', '6')
        expect(params.has('a')).toBe(true)
    })
})
