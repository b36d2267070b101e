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

/** What `src/realm.ts` exports comes from the prelude that the realm has evaluated, not from a copy of it. */
const ofThePrelude = {
    name: 'of the prelude',
    setup({ onResolve }) {
        onResolve({ filter: /\/realm\.ts$/ }, () => ({ path: 'rival:prelude', external: true }))
    },
}

const LOCALES = 'node_modules/zod/v4/locales'
const locales = Array.from(
    readFileSync(`${LOCALES}/index.js`, 'utf8').matchAll(/export \{ default as (\w+) \} from "(.+?)"/g),
    ([, name, file]) => ({ name, file }),
)

/** zod's messages in other languages are more than half of it, and hardly ever asked for: they are a module of their own. */
const localesLater = {
    name: 'locales later',
    setup({ onLoad, onResolve }) {
        onResolve({ filter: /^rival:/ }, ({ path }) => ({ path, external: true }))
        onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => {
            const others = locales.filter(({ name }) => name !== 'en')
            const later = others.map(({ name }) => `export const ${name} = () => locale('${name}')`)
            const contents = ["import { locale } from 'rival:prelude'", "export { default as en } from './en.js'", ...later]
            return { contents: contents.join('\n'), resolveDir: LOCALES }
        })
    },
}

const banner = { js: `/*\n${licence}*/` }
await Promise.all([
    bundle('prelude', 'src/prelude.ts'),
    bundle('rival', 'src/rival.ts', { plugins: [ofThePrelude] }),
    bundle('rival_test', 'src/rival_test.ts', { plugins: [ofThePrelude] }),
    bundle('zod', 'zod', { minify: true, banner, plugins: [localesLater] }),
    bundle('zod_locales', `./${LOCALES}/index.js`, { minify: true, banner }),
])
writeFileSync(`${folder}/zod.d.ts`, zodTypes(licence))
