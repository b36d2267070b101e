// The table of docs/typescript.md.

/** What people read, as Markdown and in a terminal; and how many work. */
export function tableOf(packages, results) {
    const outcomes = packages.map(([name, purpose]) => {
        const result = results.find((it) => it.name === name || it.file?.includes(fileOf(name)))
        return { name, purpose, works: result?.passed === true, why: whyOf(result) }
    })
    const works = outcomes.filter((it) => it.works)
    const fails = outcomes.filter((it) => !it.works)
    const purposes = [...new Set(works.map(({ purpose }) => purpose))]
    const namesFor = (purpose) => works.filter((it) => it.purpose === purpose).map(({ name }) => `\`${name}\``).join(', ')
    const lines = [
        `${works.length} of ${outcomes.length} work:\n`,
        '| for | packages |', '| --- | --- |', ...purposes.map((purpose) => `| ${purpose} | ${namesFor(purpose)} |`),
        '',
    ]
    if (fails.length > 0) {
        lines.push('| does not work | why |', '| --- | --- |', ...fails.map(({ name, why }) => `| \`${name}\` | ${why} |`), '')
    }
    const said = fails.map(({ name, why }) => `  ${name}: ${why}`)
    return { table: lines.join('\n'), summary: [`${works.length} of ${outcomes.length} work`, ...said].join('\n'), works: works.length }
}

function fileOf(name) {
    return `/${name.replace(/^@/, '').replaceAll('/', '-')}.test.ts`
}

function whyOf(result) {
    if (result === undefined) return 'it was not tried'
    const [line] = (result.failure?.message ?? '').split('\n')
    return line.replaceAll('|', '\\|').replace(/^\S*tries-\S+: /, '').replace(/^Cannot find module: /, '').split('. ')[0]
}
