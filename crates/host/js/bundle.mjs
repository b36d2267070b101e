// Bundles what a realm evaluates, one text each, into the folder that is given: `node bundle.mjs <folder>`.
import { build } from 'esbuild'

const folder = process.argv[2]
const common = {
    bundle: true,
    charset: 'utf8',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
    // Names of functions and classes are seen by users, in stack traces and `error.name`.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'neutral',
    target: 'es2023',
}

await Promise.all([
    build({ ...common, entryPoints: ['src/prelude.ts'], outfile: `${folder}/prelude.js` }),
    build({ ...common, entryPoints: ['src/rival.ts'], outfile: `${folder}/rival.js` }),
    build({ ...common, entryPoints: ['src/rival_test.ts'], outfile: `${folder}/rival_test.js` }),
    build({ ...common, minify: true, entryPoints: ['zod'], outfile: `${folder}/zod.js` }),
])
