export default (native) => {
    const pending = new Map(), ops = new Map(), stringify = JSON.stringify
    const send = (frame) => native.send(stringify(frame))
    const shape = (e) => ({ name: e?.name ?? 'Error', message: String(e?.message ?? e), stack: e?.stack, code: e?.code })
    globalThis.setTimeout = (fn, ms = 0) => { const op = native.next(); ops.set(op, fn); native.timer(op, ms); return op }
    globalThis.clearTimeout = (op) => { ops.delete(op); native.stop(op) }
    globalThis.console = { log: (...a) => send({ t: 'log', id: native.current(), level: 'info', message: a.join(' ') }) }
    globalThis.fetch = (url, { method = 'GET', headers = [], body = null, redirect = 'follow', signal } = {}) => new Promise((ok, no) => {
        const op = native.next()
        ops.set(op, (error, value) => error ? no(Object.assign(new TypeError(error.message), { code: error.code })) : ok(value))
        signal?.addEventListener?.(() => { native.stop(op); ops.delete(op); no(new Error('aborted')) })
        native.fetch(op, stringify({ url, method, headers, redirect }), body === null ? null : native.encode(body))
    })
    globalThis.native = native
    const op = (id, kind, args) => new Promise((ok, no) => {
        const n = native.next()
        ops.set(n, (e, v) => e ? no(Object.assign(new Error(e.message), e)) : ok(v))
        send({ t: 'op', id, op: n, kind, args })
    })
    const ask = (id, kind, args) => JSON.parse(native.ask(stringify({ t: 'op', id, op: native.next(), kind, args }))).value
    const run = async (frame) => {
        const call = pending.get(frame.id)
        const module = await native.load(frame.file)
        native.enter(frame.id)
        const state = {}
        try {
            const listeners = []
            call.abort = (reason) => listeners.forEach((l) => l(reason))
            const value = await module[frame.function]({
                input: frame.cx.input, state,
                run: { abortSignal: { addEventListener: (_, l) => listeners.push(l) } },
                durable: { signal: (name) => op(frame.id, 'durable.signal', { name }) },
                steps: new Proxy({}, { get: (_, name) => ask(frame.id, 'look', { name }) ?? undefined }),
            })
            if (pending.delete(frame.id)) send({ t: 'done', id: frame.id, value: value ?? null, state })
        } catch (e) {
            if (pending.delete(frame.id)) send({ t: 'failed', id: frame.id, error: shape(e), state })
        }
    }
    return {
        frame(frame) {
            if (frame.t === 'call') { pending.set(frame.id, {}); run(frame).catch((e) => { pending.delete(frame.id); send({ t: 'failed', id: frame.id, error: shape(e) }) }) }
            else if (frame.t === 'abort') pending.get(frame.id)?.abort?.(frame.reason)
            else if (frame.t === 'forget') pending.delete(frame.id)
            else if (frame.t === 'answer') { const f = ops.get(frame.op); ops.delete(frame.op); f?.(frame.error, frame.value) }
        },
        complete(op, error, value) { const f = ops.get(op); ops.delete(op); f?.(error, value) },
        drained() {},
    }
}
