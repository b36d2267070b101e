// An MCP server that does as its tests say: over its pipes, or with `--http PORT` over streamable HTTP.
// It is written by hand, because it also does what no library would let it do.
import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'

const mode = process.env.SCRIPT_MODE ?? ''
const log = (word) => process.env.SCRIPT_LOG && appendFileSync(process.env.SCRIPT_LOG, `${word}\n`)
const text = (text, more = {}) => ({ content: [{ type: 'text', text }], ...more })
const schema = { type: 'object' }
const typed = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
const extra = []
let [busy, busiest, calls] = [0, 0, 0]
const timers = new Map()
const seen = []

const tools = {
  echo: ({ arguments: input, _meta }) => ({ content: [], structuredContent: { input, meta: _meta } }),
  text: ({ arguments: input }) => text(input.text),
  fail: ({ arguments: input }) => text(input.text ?? 'no', { isError: true }),
  env: () => text(JSON.stringify(process.env)),
  headers: (_params, request) => text(JSON.stringify(request.headers)),
  big: ({ arguments: input }) => text('x'.repeat(input.bytes)),
  levels: ({ arguments: input }) => raw(`{"content":[],"structuredContent":{"a":${'['.repeat(input.levels)}${']'.repeat(input.levels)}}}`),
  raw: ({ arguments: input }) => raw(input.json),
  typed: ({ arguments: input }) => ({ content: [], structuredContent: input }),
  pid: () => text(String(process.pid)),
  busiest: () => text(String(busiest)),
  calls: () => text(String(calls)),
  exit: () => process.exit(3),
  hang: () => undefined,
  rpc_error: () => { throw { code: -32000, message: 'out of order', data: { n: 1 } } },
  stderr: ({ arguments: input }) => { process.stderr.write(`${input.text}\n`); return text('written') },
  flood: () => { for (let n = 0; n < 2000; n++) process.stderr.write('noise '.repeat(500) + '\n'); return text('flooded') },
  garbage: () => { process.stdout.write('this is no message\n{"jsonrpc":"2.0"}\n\u0000\n[1,2\n{"jsonrpc":"2.0","id":999999,"result":{}}\n'); return text('after garbage') },
  // Fails as often as it is told for each key, and then says what it was told of all calls.
  flaky: ({ arguments: input, _meta }) => {
    seen.push(_meta)
    const same = seen.filter((meta) => meta['rival/idempotencyKey'] === _meta['rival/idempotencyKey'])
    if (same.length <= input.failures) return text('not yet', { isError: true })
    return text(JSON.stringify(same))
  },
  work: async ({ arguments: input }) => {
    busiest = Math.max(busiest, ++busy)
    await new Promise((done) => setTimeout(done, input.ms))
    busy--
    return text('worked')
  },
  wait: ({ arguments: input }, request, id) => new Promise((done) => {
    timers.set(id, { done, timer: setTimeout(() => done(text('waited')), input.ms) })
    log(`waits ${input.name ?? ''}`)
  }),
  grow: ({ arguments: input }) => {
    extra.push({ name: input.name, inputSchema: schema })
    notify('notifications/tools/list_changed')
    return text('grown')
  },
  // Leaves a process behind that holds the pipes.
  child: async () => {
    const { spawn } = await import('node:child_process')
    return text(String(spawn('sleep', ['1000'], { stdio: 'inherit' }).pid))
  },
}

class Raw { constructor(json) { this.json = json } }
const raw = (json) => new Raw(json)
const encode = (id, result) => result instanceof Raw
  ? `{"result":${result.json},"jsonrpc":"2.0","id":${id}}`
  : JSON.stringify({ result, jsonrpc: '2.0', id })

function list(cursor) {
  const names = [...Object.keys(tools).map((name) => ({ name, description: `does ${name}`, inputSchema: schema, outputSchema: name === 'typed' ? typed : undefined })), ...extra]
  if (mode === 'deep-schema') {
    const deep = `${'{"properties":{"a":'.repeat(10_000)}{}${'}}'.repeat(10_000)}`
    return raw(`{"tools":[{"name":"deep","inputSchema":${deep}},{"name":"text","inputSchema":{}}]}`)
  }
  if (mode === 'endless-list') return { tools: [], nextCursor: String(Number(cursor ?? 0) + 1) }
  const from = Number(cursor ?? 0)
  const page = names.slice(from, from + 5)
  return { tools: page, nextCursor: from + 5 < names.length ? String(from + 5) : undefined }
}

// What to answer to a message; nothing, if it is none that is answered.
async function answer({ id, method, params }, request) {
  if (method === 'notifications/cancelled') {
    log(`cancelled ${params.reason}`)
    const waiting = timers.get(params.requestId)
    if (waiting) { clearTimeout(waiting.timer); timers.delete(params.requestId) }
  }
  if (id === undefined || method === undefined) return
  try {
    switch (method) {
      case 'initialize':
        if (mode === 'no-handshake') return
        return encode(id, { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'scripted', version: process.env.SCRIPT_VERSION ?? '1' } })
      case 'ping': return mode === 'no-ping' ? undefined : encode(id, {})
      case 'tools/list': return mode === 'no-list' ? undefined : encode(id, list(params?.cursor))
      case 'tools/call': {
        calls++
        const tool = tools[params.name]
        const result = tool ? await tool(params, request, id) : text(`there is no tool ${params.name}`, { isError: true })
        return result === undefined ? undefined : encode(id, result)
      }
      default: throw { code: -32601, message: `there is no ${method}` }
    }
  } catch ({ code, message, data }) {
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
  }
}

let notify = () => {}

function overPipes() {
  notify = (method) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`)
  if (mode === 'crash') process.exit(7)
  if (mode === 'refuse') { process.stderr.write(`no: ${process.env.SCRIPT_SECRET}\n`); process.exit(1) }
  if (mode === 'flood') setInterval(() => process.stderr.write('noise '.repeat(1000)), 0)
  if (mode === 'stubborn') { process.on('SIGTERM', () => {}); setInterval(() => {}, 1000) }
  let rest = ''
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) answer(JSON.parse(line)).then((said) => said && process.stdout.write(`${said}\n`))
  })
  process.stdin.on('end', () => { if (mode !== 'stubborn') process.exit(0) })
}

function overHttp(port) {
  const sessions = new Set()
  const streams = new Set()
  notify = (method) => streams.forEach((stream) => stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method })}\n\n`))
  const server = createServer(async (request, response) => {
    const refuse = (status, message) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
    }
    const session = request.headers['mcp-session-id']
    if (mode === 'unauthorized') return refuse(401, `who is ${request.headers.authorization}?`)
    if (session !== undefined && !sessions.has(session)) return refuse(400, 'Bad Request: No valid session ID provided')
    if (request.method === 'DELETE') { sessions.delete(session); log('deleted'); response.writeHead(200); return response.end() }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': here\n\n')
      streams.add(response)
      return request.on('close', () => streams.delete(response))
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const message = JSON.parse(body)
    const headers = {}
    if (message.method === 'initialize') {
      headers['mcp-session-id'] = randomUUID()
      sessions.add(headers['mcp-session-id'])
    }
    if (message.id === undefined) { answer(message); response.writeHead(202, headers); return response.end() }
    if (mode === 'events') {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      response.write(': here\n\n')
      const said = await answer(message, request)
      if (said !== undefined) response.end(`event: message\ndata: ${said}\n\n`)
      return
    }
    const said = await answer(message, request)
    if (said === undefined) return
    response.writeHead(200, { ...headers, 'content-type': 'application/json' })
    response.end(said)
  })
  server.listen(port, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}

const at = process.argv.indexOf('--http')
if (at > 0) overHttp(Number(process.argv[at + 1]))
else overPipes()
