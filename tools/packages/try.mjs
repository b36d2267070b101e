// Tries every package of list.mjs in the script host, and writes what came of it into docs/typescript.md:
//   node try.mjs <the program rival>           all of them
//   node try.mjs <the program rival> --few     those of few/package.json, as a test: it fails if one does not work
//   … --only a,b                               some of them, without the table
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packages } from './list.mjs'
import { tableOf } from './table.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const [program, ...flags] = process.argv.slice(2)
const isFew = flags.includes('--few')
const home = isFew ? join(here, 'few') : here
const only = isFew
    ? Object.keys(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).dependencies)
    : flags.includes('--only') ? flags[flags.indexOf('--only') + 1].split(',') : undefined
const chosen = packages.filter(([name]) => only?.includes(name) ?? true)

/** A server that answers with what it was asked, in a process of its own: ours waits for tests. */
async function startEcho() {
    const server = spawn(process.execPath, [join(here, 'echo.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
    const address = await new Promise((resolve) => server.stdout.once('data', (line) => resolve(String(line).trim())))
    return { server, address }
}

/** A workflow file and a test of it, for each package: what is wrong with one does not keep the others from being tried. */
function write(tries, address) {
    for (const [name, , imports, body, expected] of chosen) {
        const file = name.replace(/^@/, '').replaceAll('/', '-')
        const step = `async function use() {\n    ${body.replaceAll('ECHO', address)}\n}`
        writeFileSync(join(tries, `${file}.ts`), `${imports}\n\n${step}\n\nexport const steps = [use]\n`)
        const asked = [
            "import { expect, runWorkflow, test } from 'rival/test'\n",
            `test('${name}', async () => {`,
            `    const run = await runWorkflow('./${file}.ts', { fetch: 'real' })`,
            "    if (run.status !== 'completed') throw new Error(run.error?.message ?? JSON.stringify(run))",
            `    expect(run.results.use.result).toEqual(${JSON.stringify(expected)})`,
            '})\n',
        ]
        writeFileSync(join(tries, `${file}.test.ts`), asked.join('\n'))
    }
}

/** What `rival test` says of each. */
async function run(tries) {
    const rival = spawn(resolve(program), ['test', tries, '--output', 'json'], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] })
    const failed = new Promise((_, reject) => rival.once('error', reject))
    const [stdout, stderr] = await Promise.race([Promise.all([rival.stdout.toArray(), rival.stderr.toArray()]), failed])
    const lines = Buffer.concat(stdout).toString().split('\n')
    const results = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    if (results.length === 0) throw new Error(Buffer.concat(stderr).toString())
    return results
}

function writeTable(table) {
    const docs = join(here, '../../docs/typescript.md')
    const between = /(<!-- packages -->\n)[^]*?(<!-- end of packages -->)/
    const text = readFileSync(docs, 'utf8').replace(between, (_, begin, end) => begin + table + end)
    writeFileSync(docs, text)
}

const tries = mkdtempSync(join(home, 'tries-'))
const { server, address } = await startEcho()
try {
    write(tries, address)
    const { table, summary, works } = tableOf(chosen, await run(tries))
    console.log(summary)
    if (only === undefined) writeTable(table)
    else if (works < chosen.length) process.exitCode = 1
} finally {
    server.kill()
    rmSync(tries, { recursive: true, force: true })
}
