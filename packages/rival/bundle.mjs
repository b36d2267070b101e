// Bundles what a realm evaluates into the folder that is given, and writes what is to be known of it:
// `node bundle.mjs <folder>`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, transform } from 'esbuild'
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

const ZOD = 'node_modules/zod'
const LOCALES = `${ZOD}/v4/locales`
const locales = Array.from(
    readFileSync(`${LOCALES}/index.js`, 'utf8').matchAll(/export \{ default as (\w+) \} from "(.+?)"/g),
    ([, name]) => name,
)

/** Functions that are forwarded to a module which is evaluated when one of them is called. */
const forwarded = (module, names) => [
    "import { later } from 'rival:prelude'",
    ...names.map((name) => `export function ${name}(...args) { return later('${module}').${name}(...args) }`),
]

/**
 * What is made of files of zod: a function from the text of one to the texts of modules, by name.
 *
 * Each realm evaluates zod, so what is hardly ever asked for is evaluated later: messages in other languages, which are more
 * than half of it, the compiler of schemas, and schemas that are made of JSON Schema.
 */
const CHANGED = {
    'v4/locales/index.js': (_, name) => {
        const others = locales.filter((locale) => locale !== 'en')
        const forwards = others.map((locale) => `export const ${locale} = () => later('zod:locales').${locale}()`)
        return { [name]: ["import { later } from 'rival:prelude'", "export { default as en } from './en.js'", ...forwards] }
    },
    'v4/classic/from-json-schema.js': (text, name) => {
        const late = `${name}:later`
        return { [name]: forwarded(late, ['fromJSONSchema']), [late]: [text] }
    },
    'v4/core/compile.js': (text, name) => {
        const late = `${name}:later`
        const errors = text.match(/^export class \w+ extends Error \{$.+?^\}$/gms)
        const [invalid] = text.match(/^export const INVALID = .+$/m)
        const names = errors.map((error) => error.split(' ')[2])
        const imports = `import { ${names.join()} } from './compile.js'`
        const early = [...forwarded(late, ['compile', 'compileFn', 'withParser']), invalid, ...errors]
        return { [name]: early, [late]: [imports, errors.reduce((rest, error) => replaced(rest, error, ''), text)] }
    },
    // A class for each kind of schema, of which only those of errors are ever used.
    'v4/core/core.js': (text, name) => {
        const used = replaced(text, 'params?.Parent ?? Object;', 'params?.Parent;')
        const when = 'const Definition = Parent && class extends Parent {}; if (Definition)'
        return { [name]: [replaced(used, /class Definition extends Parent \{\s*\}/, when)] }
    },
}

function replaced(text, part, by) {
    const changed = text.replace(part, by)
    if (changed === text) throw new Error(`zod has no ${part} any more`)
    return changed
}

/** A name for a file of zod. */
const nameOf = (file) => (file === 'index.js' ? 'zod' : `zod:${file}`)

/**
 * The files of zod as modules, by name. They are not bundled into one: where a file is a value (`z.core`, `z.util`, and `z`
 * itself), the bundler makes an object with a function for each export: a thousand functions in every realm.
 */
async function zodModules() {
    const modules = new Map()
    const files = ['index.js']
    for (const file of files) {
        const text = readFileSync(`${ZOD}/${file}`, 'utf8')
        const made = CHANGED[file]?.(text, nameOf(file)) ?? { [nameOf(file)]: [text] }
        for (const [name, lines] of Object.entries(made)) {
            const stdin = { contents: lines.join('\n'), resolveDir: dirname(`${ZOD}/${file}`) }
            const plugins = [apart(files)]
            const { outputFiles } = await build({ ...common, minify: true, plugins, stdin, write: false })
            modules.set(name, outputFiles[0].text.trim())
        }
    }
    return modules
}

/** Leaves what a file imports apart, and notes it. */
function apart(files) {
    return {
        name: 'apart',
        setup({ onResolve }) {
            onResolve({ filter: /^rival:/ }, ({ path }) => ({ path, external: true }))
            onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
                const file = relative(ZOD, join(resolveDir, path))
                if (!files.includes(file)) files.push(file)
                return { path: nameOf(file), external: true, sideEffects: false }
            })
        },
    }
}

async function bundleZod() {
    const modules = await zodModules()
    const texts = [...modules].map(([name, text]) => `//@ ${name}\n${text}\n`)
    writeFileSync(`${folder}/zod.js`, [`/*\n${licence}*/\n`, ...texts].join(''))
    const { metafile } = await build({ ...common, entryPoints: ['zod'], write: false, outdir: folder })
    writeFileSync(`${folder}/zod.exports`, Object.values(metafile.outputs)[0].exports.join('\n'))
}

/** The modules of Node.js that need nothing but the language, by name; those without a file of ours are packages. */
const NODE = {
    assert: 'src/node/assert.ts',
    'assert/strict': 'src/node/assert_strict.ts',
    buffer: 'src/node/buffer.ts',
    events: 'src/node/events.ts',
    path: 'src/node/path.ts',
    'path/posix': 'src/node/path.ts',
    process: 'src/node/process.ts',
    punycode: 'src/node/punycode.ts',
    querystring: 'src/node/querystring.ts',
    stream: 'src/node/stream.ts',
    'stream/promises': 'src/node/stream_promises.ts',
    string_decoder: 'src/node/string_decoder.ts',
    timers: 'src/node/timers.ts',
    'timers/promises': 'src/node/timers_promises.ts',
    url: 'src/node/url.ts',
    util: 'src/node/util.ts',
    'util/types': 'src/node/util_types.ts',
}

/** Each of them is a module of its own, which realms evaluate when it is asked for; what one needs of another it imports. */
const ofNode = {
    name: 'of Node.js',
    setup({ onResolve }) {
        onResolve({ filter: /^(node:)?[a-z_]+(\/[a-z]+)?\/?$/ }, ({ path, kind }) => {
            const name = path.replace(/^node:/, '').replace(/\/$/, '')
            // A package asks with `require`, which nothing here could answer: it gets a file that imports the module.
            if (!(name in NODE) || kind === 'entry-point') return undefined
            return kind === 'require-call'
                ? { path: name, namespace: 'of-node' }
                : { path: `node:${name}`, external: true }
        })
    },
}

/** What `require` gives to a package that is bundled. */
const required = {
    name: 'required',
    setup({ onLoad }) {
        onLoad({ filter: /.*/, namespace: 'of-node' }, ({ path }) => ({
            contents: `export * from 'node:${path}'`,
        }))
    },
}

/** Of the packages that are in there, by the files that were read. */
function licencesOf(files) {
    const names = new Set(files.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]).filter(Boolean))
    const texts = [...names].sort().map((name) => {
        const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`))
        const file = readdirSync(`node_modules/${name}`).find((it) => /^licen[cs]e/i.test(it))
        return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/${file}`)}`
    })
    return texts.join('\n')
}

async function bundleNode() {
    const texts = []
    const exported = []
    const inputs = []
    for (const [name, entry] of Object.entries(NODE)) {
        const options = { plugins: [ofNode, required, ofThePrelude], mainFields: ['browser', 'module', 'main'], write: false }
        const { metafile, outputFiles } = await build({ ...common, ...options, entryPoints: [entry], outdir: folder })
        texts.push(`//@ node:${name}\n${outputFiles[0].text.trim()}\n`)
        inputs.push(...Object.keys(metafile.inputs))
        exported.push([`node:${name}`, ...Object.values(metafile.outputs)[0].exports].join(' '))
    }
    writeFileSync(`${folder}/node.js`, [`/*\n${licencesOf(inputs)}*/\n`, ...texts].join(''))
    writeFileSync(`${folder}/node.exports`, exported.join('\n'))
}

/** Data of a language as its polyfill wants it; what is large and hardly ever asked for is left out. */
function trimmed(kind, locale, entry) {
    const { data } = entry
    if (kind === 'datetimeformat') {
        // Ranges are written with a dash in every language, and zones have names in English.
        data.intervalFormats = { intervalFormatFallback: data.intervalFormats.intervalFormatFallback }
        if (!locale.startsWith('en')) data.timeZoneName = {}
    }
    if (Array.isArray(data.nu)) data.nu = data.nu.slice(0, 1).concat('latn').filter((it, at, all) => all.indexOf(it) === at)
    return entry
}

const DATA = { datetimeformat: 'DateTimeFormat', numberformat: 'NumberFormat', relativetimeformat: 'RelativeTimeFormat', listformat: 'ListFormat' }

/** A module whose default export adds the data of a language to an `Intl`. */
function localeModule(locale) {
    const lines = Object.entries(DATA).map(([kind, name]) => {
        let entry
        const text = readFileSync(`node_modules/@formatjs/intl-${kind}/locale-data/${locale}.js`, 'utf8')
        new Function('Intl', text)({ [name]: { __addLocaleData: (data) => (entry = data) } })
        // As browsers have it: much code reads such dates again, and knows only plain spaces.
        const data = JSON.stringify(trimmed(kind, locale, entry)).replaceAll('\u202f', locale.startsWith('en') ? ' ' : '\u202f')
        return `Intl.${name}.__addLocaleData(JSON.parse(${JSON.stringify(data)}))`
    })
    // Rules of plurals are code; regions have those of their language.
    const rules = `node_modules/@formatjs/intl-pluralrules/locale-data/${locale.split('-')[0]}.js`
    return `export default function (Intl) {\n${lines.join('\n')}\n${readFileSync(rules, 'utf8')}\n}`
}

async function bundleIntl() {
    const { outputFiles: [list] } = await build({ ...common, entryPoints: ['src/intl/locales.ts'], write: false, outdir: folder })
    const { LOCALES } = await import(`data:text/javascript,${encodeURIComponent(list.text)}`)
    const options = { inject: ['src/intl/target.ts'], plugins: [ofThePrelude], minify: true, keepNames: false, write: false }
    const { metafile, outputFiles } = await build({ ...common, ...options, entryPoints: ['src/intl/intl.ts'], outdir: folder })
    const texts = [`//@ rival:intl\n${outputFiles[0].text.trim()}\n`]
    for (const locale of LOCALES) {
        const { code } = await transform(localeModule(locale), { minify: true, charset: 'utf8' })
        texts.push(`//@ rival:intl:${locale}\n${code.trim()}\n`)
    }
    writeFileSync(`${folder}/intl.js`, [`/*\n${licencesOf(Object.keys(metafile.inputs))}*/\n`, ...texts].join(''))
}

await Promise.all([
    bundleIntl(),
    bundleNode(),
    bundle('prelude', 'src/prelude.ts'),
    bundle('rival', 'src/rival.ts', { plugins: [ofThePrelude] }),
    bundle('subtle', 'src/subtle/subtle.ts', { plugins: [ofThePrelude] }),
    bundle('rival_test', 'src/rival_test.ts', { plugins: [ofThePrelude] }),
    bundle('rival_document', 'src/rival_document.ts', { external: ['zod'] }),
    bundleZod(),
    bundle('zod_locales', `./${LOCALES}/index.js`, { minify: true, banner: { js: `/*\n${licence}*/` } }),
])
writeFileSync(`${folder}/zod.d.ts`, zodTypes(licence))
