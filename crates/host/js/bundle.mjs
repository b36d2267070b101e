// Bundles what a realm evaluates into the folder that is given, and writes what is to be known of it:
// `node bundle.mjs <folder>`.
import { readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { zodTypes } from './zod_types.mjs'

const folder = process.argv[2]
const licence = `zod ${JSON.parse(readFileSync('node_modules/zod/package.json')).version}\n\n${readFileSync('node_modules/zod/LICENSE')}`
const common = {
    bundle: true,
    charset: 'utf8',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    // Names of functions and classes stay: users see them in stack traces and in `error.name`.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'neutral',
    target: 'es2023',
}

/** Writes a module, and a list of what it exports. */
async function bundle(name, entry, options = {}) {
    const outfile = `${folder}/${name}.js`
    const { metafile } = await build({ ...common, ...options, entryPoints: [entry], outfile })
    const [{ exports }] = Object.values(metafile.outputs)
    writeFileSync(`${folder}/${name}.exports`, exports.join('\n'))
}

await Promise.all([
    bundle('prelude', 'src/prelude.ts'),
    bundle('rival', 'src/rival.ts'),
    bundle('rival_test', 'src/rival_test.ts'),
    bundle('zod', 'zod', { minify: true, banner: { js: `/*\n${licence}*/` } }),
])
writeFileSync(`${folder}/zod.d.ts`, zodTypes(licence))
