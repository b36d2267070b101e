/** `console.table`. */
import { inspect } from './inspect.ts'

const INDEX = '(index)'
const VALUES = 'Values'

/** Rows and columns; null if there are none to show. */
export function table(data: unknown, only?: string[]): string | null {
    if (typeof data !== 'object' || data === null) return null
    const rows = entries(data)
    const columns = only ?? columnsOf(rows)
    const hasValues = only === undefined && rows.some(([, row]) => !isRow(row))
    const head = [INDEX, ...columns, ...(hasValues ? [VALUES] : [])]
    const lines = rows.map(([index, row]) => {
        const cells = columns.map((column) => (isRow(row) && column in row ? inspect(row[column], 0) : ''))
        return [index, ...cells, ...(hasValues ? [isRow(row) ? '' : inspect(row, 0)] : [])]
    })
    return draw([head, ...lines])
}

function entries(data: object): [string, unknown][] {
    if (data instanceof Map) return Array.from(data, ([key, value]) => [String(key), value])
    if (data instanceof Set) return Array.from(data, (value, index) => [String(index), value])
    return Object.entries(data)
}

function isRow(row: unknown): row is Record<string, unknown> {
    return typeof row === 'object' && row !== null
}

function columnsOf(rows: [string, unknown][]): string[] {
    const names = new Set<string>()
    for (const [, row] of rows) if (isRow(row)) for (const name of Object.keys(row)) names.add(name)
    return [...names]
}

function draw(lines: string[][]): string {
    const [head = [], ...body] = lines
    const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
    const rule = (left: string, middle: string, right: string) =>
        left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right
    const row = (line: string[]) => `│${line.map((cell, column) => ` ${cell.padEnd(widths[column] ?? 0)} `).join('│')}│`
    return [rule('┌', '┬', '┐'), row(head), rule('├', '┼', '┤'), ...body.map(row), rule('└', '┴', '┘')].join('\n')
}
