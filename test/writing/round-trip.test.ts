import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeXlsx } from 'hucre/xlsx'
import { appendCsvRows } from '../../src/providers/file/csv/csv.fixture.ts'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { bearer, startRowport } from '../harness.ts'
import { times } from '../soak.ts'

const runs = times(20, 500)
const seed = 20_261_115

const tricky = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '007',
  '1e5',
  '1,5',
  'TRUE',
  'false',
  '2026-11-15',
  '15.11.2026',
  '09:30',
  '#N/A',
  "'quoted",
  '"',
  ' spaced ',
  'a\tb',
  'two\nlines',
  'two\r\nlines',
  '\u00a0',
  '\ufeff',
  '_x000D_',
  '<b>&amp;</b>',
  ']]>',
  '😀',
  '50%',
  '$5',
  '1/2',
]
const headerName = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('__proto__', 'constructor', '1', '01', '_row', 'name', 'name', 'Name', 'limit', ...tricky),
)
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom(...tricky))
const number = fc.oneof(
  fc.integer(),
  fc.integer({ min: -999_999_999, max: 999_999_999 }).map((n) => n / 1_000),
  fc.constantFrom(0, -0, 1e15, 1e-7, 0.1, 123_456_789_012_345),
)
const cell: fc.Arbitrary<Cell> = fc.oneof(text, text, number, fc.boolean(), fc.constant(null))
const table = fc.array(headerName, { minLength: 1, maxLength: 6 }).chain((headers) =>
  fc.record({
    headers: fc.constant(headers),
    rows: fc.array(fc.array(cell, { minLength: headers.length, maxLength: headers.length }), {
      minLength: 1,
      maxLength: 5,
    }),
    changed: fc.array(cell, { minLength: headers.length, maxLength: headers.length }),
  }),
)

for (const { kind, encode } of [
  { kind: 'csv', encode: async (row: string[]) => appendCsvRows(new Uint8Array(), [row]) },
  {
    kind: 'xlsx',
    encode: async (row: string[]) => writeXlsx({ sheets: [{ name: 'Sheet1', rows: [row] }] }),
  },
])
  test(`${kind}: any cells under any headers, written through the API, are read back as they were`, async (t) => {
    const rowport = await startRowport(t)
    const key = await rowport.createKey()
    const counts = { tables: 0, cells: 0, refused: 0 }
    let made = 0
    await fc.assert(
      fc.asyncProperty(table, async ({ headers, rows, changed }) => {
        const name = `t${made++}`
        const sheet = await rowport.connectFile(name, `${name}.${kind}`, await encode(headers))
        const columns = await columnsOf(sheet.formB)
        // A header of spaces is no column.
        if (columns.length !== headers.filter((header) => header.trim() !== '').length) return
        if (columns.length === 0) return
        const at = (row: readonly Cell[]) => columns.map((_, column) => row[column] ?? null)
        const sent = rows.map(at).filter((row) => !row.every(isEmpty))
        if (sent.length === 0) return

        const added = await ask(
          'POST',
          sheet.formA,
          `[${sent.map((row) => objectOf(columns, row)).join(',')}]`,
        )
        if (added.status === 400) {
          assert.match(added.text, /15 digits|cannot hold|character/i, added.text)
          assert.equal(await list(sheet.formA), '[]', 'refused whole')
          counts.refused++
          return
        }
        assert.equal(added.status, 201, added.text)
        assert.equal(await list(sheet.formA), `[${sent.map((row) => objectOf(columns, row)).join(',')}]`)

        const change = at(changed)
        const put = await ask('PUT', `${sheet.formA}/2`, objectOf(columns, change, isAsSent))
        if (put.status === 400) return
        assert.equal(put.status, 200, put.text)
        const expected = [change, ...sent.slice(1)].filter((row) => !row.every(isEmpty))
        assert.equal(await list(sheet.formA), `[${expected.map((row) => objectOf(columns, row)).join(',')}]`)
        counts.tables++
        counts.cells += columns.length * (sent.length + 1)
      }),
      { numRuns: runs, seed },
    )
    process.stdout.write(`${kind}: ${JSON.stringify(counts)}\n`)
    assert.ok(counts.tables > runs / 2)

    async function columnsOf(formB: string): Promise<string[]> {
      const { text } = await ask('GET', formB)
      return (JSON.parse(text) as { meta?: { columns: string[] } }).meta?.columns ?? []
    }

    async function list(path: string): Promise<string> {
      return (await ask('GET', path)).text
    }

    async function ask(method: string, path: string, body?: string) {
      const answer = await fetch(rowport.url + path, {
        method,
        headers: bearer(key),
        ...(body !== undefined && { body }),
      })
      return { status: answer.status, text: await answer.text() }
    }
  })

const isAsSent = (value: Cell) => value
const isEmpty = (value: Cell) => value === null || value === ''

/** As text, because an object cannot hold every key in its place. */
function objectOf(
  columns: readonly string[],
  row: readonly Cell[],
  toValue: (value: Cell) => Cell = (value) => (value === '' ? null : value),
): string {
  const pairs = columns.map((key, at) => `${JSON.stringify(key)}:${JSON.stringify(toValue(row[at] ?? null))}`)
  return `{${pairs.join(',')}}`
}
