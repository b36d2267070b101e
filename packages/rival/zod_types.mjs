// zod's type declarations as one file of ambient modules, so that a project has them without installing anything.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = 'node_modules/zod'
const SPECIFIER = /(from |import\()"(\.{1,2}\/[^"]+)"/g

/** The text; `licence` is put before it. */
export function zodTypes(licence) {
    const modules = new Map()
    const open = [join(ROOT, 'index.d.ts')]
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
        if (modules.has(file)) continue
        const text = readFileSync(file, 'utf8')
        modules.set(file, text)
        for (const [, , path] of text.matchAll(SPECIFIER)) open.push(declarations(file, path))
    }
    const parts = Array.from(modules, ([file, text]) => `declare module '${nameOf(file)}' {\n${inside(file, text)}\n}\n`)
    const alias = "declare module 'zod/v4' {\nexport * from 'zod'\nexport { default } from 'zod'\n}\n"
    return `/*\n${licence.trim()}\n*/\n\n${[...parts, alias].join('\n')}`
}

/** The file that a relative path means. */
function declarations(from, path) {
    return join(dirname(from), path.replace(/\.(c|m)?js$/, '.d.ts'))
}

function nameOf(file) {
    const path = relative(ROOT, file).replace(/\.d\.ts$/, '')
    return path === 'index' ? 'zod' : `zod/${path}`
}

/** What a file declares, as it is written inside of an ambient module. */
function inside(file, text) {
    return text
        .replace(SPECIFIER, (_, before, path) => `${before}'${nameOf(declarations(file, path))}'`)
        .replace(/^(export )?(default )?declare /gm, '$1$2')
        .replace(/^\/\/# sourceMappingURL.*$/gm, '')
        .trim()
}
