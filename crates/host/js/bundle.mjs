// Bundles what a realm evaluates, one text each, into the folder that is given: `node bundle.mjs <folder>`.
import { build } from 'esbuild'

const folder = process.argv[2]
const common = {
    bundle: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    // Names of functions and classes are seen by users, in stack traces and `error.name`.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'neutral',
    target: 'es2023',
}

/** A script whose value is the module's default export. */
const script = {
    format: 'iife',
    globalName: 'prelude',
    banner: { js: '(() => {' },
    footer: { js: 'return prelude.default; })()' },
}

const module = { format: 'esm' }

await Promise.all([
    build({ ...common, ...script, entryPoints: ['src/prelude.ts'], outfile: `${folder}/prelude.js` }),
    build({ ...common, ...module, entryPoints: ['src/rival.ts'], outfile: `${folder}/rival.js` }),
    build({ ...common, ...module, entryPoints: ['src/test.ts'], outfile: `${folder}/test.js` }),
    build({ ...common, ...module, minify: true, entryPoints: ['zod'], outfile: `${folder}/zod.js` }),
])
