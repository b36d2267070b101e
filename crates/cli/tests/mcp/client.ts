// The official TypeScript SDK against Rival: `node client.js SCENARIO`. MCP_PLACE says how to come to it: a command as JSON, or
// an address; RIVAL_TOKEN is shown to the address.
import { createInterface } from 'node:readline'
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema, ToolListChangedNotificationSchema, type CallToolResult, type Progress,
} from '@modelcontextprotocol/sdk/types.js'

type Json = Record<string, any>

const place = process.env['MCP_PLACE']!
const overHttp = place.startsWith('http')

async function connect(name = 'test', token = process.env['RIVAL_TOKEN']): Promise<Client> {
  const client = new Client({ name, version: '1' })
  if (overHttp) {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(place), { requestInit: { headers } }) as any)
  } else {
    const [command, ...args] = JSON.parse(place) as string[]
    const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<string, string>
    await client.connect(new StdioClientTransport({ command: command!, args, env, stderr: 'inherit' }))
  }
  return client
}

async function call(client: Client, name: string, args: Json = {}, onprogress?: (progress: Progress) => void): Promise<CallToolResult> {
  const options = onprogress ? { onprogress } : {}
  return await client.callTool({ name, arguments: args }, CallToolResultSchema, options) as CallToolResult
}

/** What a tool answers if it goes well. The SDK has held it against the tool's output schema. */
async function good(client: Client, name: string, args: Json = {}): Promise<Json> {
  const result = await call(client, name, args)
  assert.equal(result.isError ?? false, false, text(result))
  assert.deepEqual(JSON.parse(text(result)), result.structuredContent)
  return result.structuredContent as Json
}

/** What a tool says when it refuses. */
async function bad(client: Client, name: string, args: Json, code: string): Promise<Json> {
  const result = await call(client, name, args)
  assert.equal(result.isError, true, text(result))
  const error = (result.structuredContent as Json)['error']
  assert.equal(error.code, code)
  assert.ok(text(result).startsWith(`error ${code}: `), text(result))
  return error
}

function text(result: CallToolResult): string {
  const [first] = result.content
  assert.ok(first?.type === 'text')
  return first.text
}

const expense = { who: 'Ann', amount: 3 }

const scenarios: Record<string, () => Promise<void>> = {
  /** Everything that an agent does with runs. */
  async runs() {
    const client = await connect()
    assert.equal(client.getServerVersion()?.name, 'rival')
    assert.match(client.getInstructions() ?? '', /run_workflow/)
    const { tools } = await client.listTools()
    const named = new Map(tools.map((tool) => [tool.name, tool]))
    for (const tool of tools) {
      assert.ok(tool.description && tool.outputSchema && tool.annotations, tool.name)
      assert.match(tool.name, /^[A-Za-z0-9_-]{1,48}$/)
    }
    assert.equal(named.get('list_runs')!.annotations!.readOnlyHint, true)
    assert.equal(named.get('cancel_run')!.annotations!.destructiveHint, true)
    assert.deepEqual(named.get('run_approval')!.inputSchema.required, ['who', 'amount'])

    const { workflows } = await good(client, 'list_workflows')
    assert.ok(workflows.some((workflow: Json) => workflow['name'] === 'approval'))
    const approval = await good(client, 'describe_workflow', { workflow: 'approval' })
    assert.equal(approval['inputSchema'].properties.amount.type, 'integer')
    assert.ok(approval['signals'].approval.properties.granted)
    assert.match(approval['plan'], /decide +step/)
    await bad(client, 'describe_workflow', { workflow: 'nope' }, 'unknown_workflow')

    // What is wrong with an input is said with its place.
    const wrong = await bad(client, 'run_workflow', { workflow: 'approval', input: { who: 'Ann' } }, 'invalid_input')
    assert.match(JSON.stringify(wrong['errors']), /amount/)
    assert.match(wrong['whatToDo'], /describe_workflow/)
    await bad(client, 'run_workflow', { workflow: 'approval', inputs: expense }, 'bad_request')
    await assert.rejects(call(client, 'no_such_tool'), /no_such_tool/)

    // Started twice under one key, it is one run.
    const start = { workflow: 'approval', input: expense, idempotencyKey: `key-${process.pid}` }
    const run = await good(client, 'run_workflow', start)
    assert.equal((await good(client, 'run_workflow', start))['runId'], run['runId'])
    await bad(client, 'run_workflow', { ...start, input: { ...expense, amount: 4 } }, 'run_conflict')
    const runId = run['runId'] as string

    await bad(client, 'run_workflow', { workflow: 'flaky', idempotencyKey: 'a\nb' }, 'bad_request')

    // It waits for a signal: a wait says so, and so does what is told on the way.
    const told: Progress[] = []
    const waited = await call(client, 'wait_for_run', { runId, waitSeconds: 1 }, (progress) => told.push(progress))
    const standing = waited.structuredContent as Json
    assert.deepEqual([standing['ended'], standing['status']], [false, 'waiting'])
    assert.match(standing['waitingFor'], /signal `approval`/)
    assert.match(told[0]?.message ?? '', /approval/)
    assert.match((await good(client, 'explain_run', { runId }))['explanation'], /signal `approval`/)

    // Watched to where it stands; what comes next is told when it comes.
    let watched = await good(client, 'watch_run', { runId })
    while (watched['more']) watched = await good(client, 'watch_run', { runId, cursor: watched['cursor'] })
    const next = good(client, 'watch_run', { runId, cursor: watched['cursor'], waitSeconds: 30 })
    const wrongSignal = await bad(client, 'signal_run', { runId, signal: 'approval', payload: { granted: 1 } }, 'invalid_signal')
    assert.match(JSON.stringify(wrongSignal['errors']), /granted/)
    const signal = { runId, signal: 'approval', payload: { by: 'Bo', granted: true }, idempotencyKey: 'yes' }
    assert.equal((await good(client, 'signal_run', signal))['runId'], runId)
    const heard = await next
    assert.match(JSON.stringify(heard['events']), /the signal `approval` came/)
    const ended = await good(client, 'wait_for_run', { runId, waitSeconds: 30 })
    assert.deepEqual([ended['ended'], ended['output']], [true, 'Ann is paid 3, says Bo'])
    await bad(client, 'cancel_run', { runId }, 'run_finished')
    const rest = await good(client, 'watch_run', { runId, cursor: heard['cursor'], maxEvents: 400 })
    assert.equal(rest['ended'], true)

    const shown = await good(client, 'show_run', { runId })
    assert.deepEqual([shown['output'], shown['input']], ['Ann is paid 3, says Bo', expense])
    assert.ok(shown['steps'].some((step: Json) => step['path'] === 'decide' && step['status'] === 'completed'))
    const value = await good(client, 'read_value', { runId, what: 'result', step: 'decide', maxChars: 5 })
    assert.deepEqual([value['json'], value['nextOffset']], ['"Ann ', 5])

    // A workflow as a tool of its own; a run that is cancelled, and goes on as another.
    const flaky = await good(client, 'run_flaky')
    assert.match(flaky['output'], /the answer is 42/)
    const stopped = await good(client, 'run_workflow', { workflow: 'approval', input: expense })
    await good(client, 'cancel_run', { runId: stopped['runId'], reason: 'a test' })
    const cancelled = await good(client, 'wait_for_run', { runId: stopped['runId'] })
    assert.deepEqual([cancelled['status'], cancelled['reason']], ['cancelled', 'a test'])
    const retried = await good(client, 'retry_run', { runId: stopped['runId'], idempotencyKey: `again-${process.pid}` })
    assert.notEqual(retried['runId'], stopped['runId'])
    const { runs } = await good(client, 'list_runs', { workflow: 'approval', status: ['waiting', 'running', 'queued'] })
    assert.deepEqual(runs.map((each: Json) => each['runId']), [retried['runId']])
    await good(client, 'cancel_run', { runId: retried['runId'] })
    await bad(client, 'show_run', { runId: 'nope' }, 'run_not_found')
    await bad(client, 'watch_run', { runId: 'nope' }, 'run_not_found')

    const { resources } = await client.listResources()
    assert.ok(resources.some((resource) => resource.uri === 'rival://llms.txt'))
    const page = await client.readResource({ uri: 'rival://llms.txt' })
    assert.match(JSON.stringify(page.contents), /waitForSignal/)
    const prompt = await client.getPrompt({ name: 'write_workflow', arguments: { goal: 'greet people' } })
    assert.match(JSON.stringify(prompt.messages), /greet people/)
    await client.close()
  },

  /** An agent writes a workflow: it is told what is wrong, mends it, runs it, and changes it. */
  async documents() {
    const client = await connect()
    let changes = 0
    let changed: () => void = () => {}
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes += 1; changed() })
    /** Ends when the client has heard of other tools than before. */
    const heard = async () => { if (!overHttp) await new Promise<void>((done) => { changed = done; if (changes > 0) done() }); changes = 0 }
    const has = async (tool: string) => (await client.listTools()).tools.some(({ name }) => name === tool)

    const name = `greet-${process.pid}`
    const written = (loud: string, typo = '') => `{
      "name": "${name}",
      "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
      "steps": [
        [{ "name": "ok", "waitForSignal": { "name": "go", "schema": { "type": "object", "properties": { "loud": { "type": "boolean" } }, "required": ["loud"] } } }],
        [{
          "name": "words",
          "transform": "interface Input { name: string; loud: boolean }\\ninterface Output { text: string }\\nexport default (input: Input): Output => ({ text: input.loud ? input.name.toUpperCase() : input.name })",
          "input": { "name": "@input.name", "loud": "${loud}" }${typo}
        }]
      ]
    }`
    const wrong = written('@okk.output.loud', ', "ouput": 1')
    const checked = await good(client, 'validate_document', { document: wrong })
    assert.deepEqual([checked['valid'], checked['errorCount']], [false, 2])
    const missing = checked['errors'].find((error: Json) => error['type'] === 'missing_ref')
    assert.deepEqual([missing.step, missing.field, missing.line], ['words', 'loud', 9])
    assert.match(checked['inWords'].join(), /did you mean `ok`/)
    const refused = await bad(client, 'create_document', { document: wrong }, 'invalid_document')
    assert.ok(refused['errors'].some((error: Json) => error['type'] === 'unknown_field' && error['whatToDo']))
    // Of the wrong type: the message says both.
    const mistyped = await good(client, 'validate_document', { document: written('@input.name') })
    const [mismatch] = mistyped['errors']
    assert.deepEqual([mismatch.type, mismatch.expected, mismatch.actual], ['type_mismatch', 'boolean', 'string'])
    await good(client, 'validate_document', { document: 'no JSON' })

    const document = written('@ok.output.loud')
    const right = await good(client, 'validate_document', { document })
    assert.equal(right['valid'], true, JSON.stringify(right))
    assert.ok(right['stepTypes'].words)
    assert.equal((await good(client, 'create_document', { document }))['version'], 1)
    await bad(client, 'create_document', { document }, 'document_exists')
    await heard()
    assert.ok(await has(`run_${name}`))

    const run = await good(client, 'run_workflow', { workflow: name, input: { name: 'Ada' } })
    await good(client, 'signal_run', { runId: run['runId'], signal: 'go', payload: { loud: true } })
    assert.deepEqual((await good(client, 'wait_for_run', { runId: run['runId'] }))['output'], { text: 'ADA' })

    const kept = await good(client, 'get_document', { name })
    const next = { ...kept['document'], description: 'Greets' }
    assert.equal((await good(client, 'update_document', { name, document: next, version: 1 }))['version'], 2)
    const other = { ...next, description: 'Greets you' }
    const stale = await bad(client, 'update_document', { name, document: other, version: 1 }, 'version_conflict')
    assert.match(stale['whatToDo'], /get_document/)
    const { documents } = await good(client, 'list_documents')
    assert.ok(documents.some((each: Json) => each['name'] === name && each['version'] === 2))
    assert.equal((await good(client, 'describe_workflow', { workflow: name }))['description'], 'Greets')
    await heard()
    await good(client, 'delete_document', { name })
    await heard()
    assert.ok(!await has(`run_${name}`))
    await bad(client, 'get_document', { name }, 'document_not_found')
    await client.close()
  },

  /** A token that is wrong, and one that may only read. */
  async rights() {
    await assert.rejects(connect('wrong', 'rvl_0_wrong'), /401|nauthorized/)
    await assert.rejects(connect('none', ''), /401|nauthorized/)
    const reader = await connect('reader', process.env['READER_TOKEN'])
    await good(reader, 'list_workflows')
    const refused = await bad(reader, 'run_workflow', { workflow: 'approval', input: expense }, 'forbidden')
    assert.match(refused['whatToDo'], /scope/)
    await bad(reader, 'run_flaky', {}, 'forbidden')
    const runner = await connect('runner', process.env['RUNNER_TOKEN'])
    const run = await good(runner, 'run_workflow', { workflow: 'approval', input: expense })
    await bad(reader, 'cancel_run', { runId: run['runId'] }, 'forbidden')
    await good(runner, 'cancel_run', { runId: run['runId'] })
    console.log(run['runId'])
  },

  /** Two clients wait at once; one that goes away in the middle of a wait leaves the other alone. */
  async crowd() {
    const [one, other] = await Promise.all([connect('one'), connect('other')])
    const run = await good(one, 'run_workflow', { workflow: 'approval', input: expense })
    const runId = run['runId'] as string
    const waits = Promise.allSettled([
      one.callTool({ name: 'wait_for_run', arguments: { runId, waitSeconds: 60 } }),
      one.callTool({ name: 'watch_run', arguments: { runId, cursor: 1000, waitSeconds: 60 } }),
    ])
    const patient = good(other, 'wait_for_run', { runId, waitSeconds: 60 })
    await good(one, 'explain_run', { runId })
    await one.close()
    await waits
    await good(other, 'signal_run', { runId, signal: 'approval', payload: { by: 'Bo', granted: false } })
    assert.equal((await patient)['output'], 'Ann is paid nothing, says Bo')
    await other.close()
  },

  /** Without a server: what is there can be looked at. */
  async offline() {
    const client = await connect()
    const { tools } = await client.listTools()
    assert.ok(tools.some((tool) => tool.name === 'run_flaky'))
    const { runs } = await good(client, 'list_runs')
    const runId = runs[0].runId as string
    assert.equal((await good(client, 'show_run', { runId }))['status'], 'queued')
    const refused = await bad(client, 'run_workflow', { workflow: 'flaky' }, 'no_server')
    assert.match(refused['whatToDo'], /rival dev/)
    await bad(client, 'wait_for_run', { runId, waitSeconds: 60 }, 'no_server')
    await bad(client, 'signal_run', { runId, signal: 'x' }, 'no_server')
    const watched = await good(client, 'watch_run', { runId, waitSeconds: 60 })
    await bad(client, 'watch_run', { runId, cursor: watched['cursor'], waitSeconds: 60 }, 'no_server')
    await client.close()
  },

  /** The server ends and comes again while a client is there: this program is told when, on its stdin. */
  async restart() {
    const client = await connect()
    const run = await good(client, 'run_workflow', { workflow: 'approval', input: expense })
    const runId = run['runId'] as string
    console.log('began')
    await line()
    const yes = { runId, signal: 'approval', payload: { by: 'Bo', granted: true } }
    const silent = await call(client, 'signal_run', yes).then((result) => text(result), (error: Error) => error.message)
    assert.match(silent, /no server|cannot reach|fetch failed|ECONNREFUSED/)
    console.log('noticed')
    await line()
    await good(client, 'signal_run', yes)
    assert.equal((await good(client, 'wait_for_run', { runId, waitSeconds: 30 }))['output'], 'Ann is paid 3, says Bo')
    await client.close()
  },
}

/** The lines of stdin: a line may come in pieces. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

/** The next of them. */
async function line(): Promise<void> {
  await lines.next()
}

await scenarios[process.argv[2]!]!()
process.exit(0)
