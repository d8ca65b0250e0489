import { type ErrorEntry, errorTable } from '../../src/errors.ts'

/** The table of docs/errors.md; what stands around it is written by hand. */
const table = /^\| Code \|.*\n\|[-|]+\n(?:\|.*\n)*/m

/** The page with the table that `src/errors.ts` makes. */
export function withErrorTable(page: string): string {
  if (!table.test(page)) throw new Error('The page has no table of codes')
  return page.replace(table, () => errorTableInMarkdown())
}

function errorTableInMarkdown(): string {
  const rows = Object.entries(errorTable).map(([code, entry]) => row(code, entry))
  return ['| Code | Status | Message | When | On `/v1/…` |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}

function row(code: string, { status, message, means, nested }: ErrorEntry): string {
  const onV1 = nested ? `\`${nested.code ?? code}\`: ${nested.message ?? message} ` : ''
  return `| \`${code}\` | ${status} | ${message} | ${means} | ${onV1}|`
}
