import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cell } from '../../src/sheets/rows/grid.ts'
import { anyCodePoint } from '../any-code-point.ts'
import { times } from '../soak.ts'
import { startGoogleGround } from './google-ground.ts'

/** What a spreadsheet would make something else of, if it were let. */
const temptations = [
  '=1+1',
  '=IMPORTXML("https://example.com";A1)',
  '+1',
  '-1',
  '@x',
  '007',
  '1e5',
  '1,5',
  '50%',
  '$5',
  'TRUE',
  'false',
  '2026-11-15',
  '15/11/2026',
  '9:30',
  '25:30:00',
  "'quoted",
  '#N/A',
  '#DIV/0!',
  ' spaces ',
  'two\nlines',
  '"',
  '\\',
  '__proto__',
  '😀',
]

const formats = [
  { type: 'DATE', pattern: 'yyyy-mm-dd' },
  { type: 'DATE', pattern: 'd. mmm yy' },
  { type: 'TIME', pattern: 'h:mm' },
  { type: 'DATE_TIME', pattern: 'dd/mm/yyyy hh:mm:ss' },
  { type: 'PERCENT', pattern: '0%' },
  { type: 'CURRENCY', pattern: '#,##0.00 "€"' },
]

const text = fc.oneof(
  fc.constantFrom(...temptations),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: anyCodePoint, maxLength: 8 }).filter((one) => one.isWellFormed()),
)
const number = fc.oneof(
  fc.integer({ min: -50_000, max: 100_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0.1 + 0.2, 0.5, 1e21, 5e-324, Number.MAX_SAFE_INTEGER),
)
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 3, arbitrary: number },
  fc.boolean(),
  fc.constant(null),
)
const header = fc
  .oneof(fc.constantFrom('id', 'constructor', '__proto__', '1', '2026-11-15', '=A1'), text)
  .map((one) => one.trim())
  .filter((one) => one !== '' && one !== '_row' && one.length <= 40)

const tab = fc
  .uniqueArray(header, { minLength: 1, maxLength: 5, selector: (one) => one.toLowerCase() })
  .chain((headers) =>
    fc.record({
      headers: fc.constant(headers),
      formats: fc.array(fc.option(fc.constantFrom(...formats)), { minLength: 5, maxLength: 5 }),
      added: fc.array(fc.array(cell, { minLength: headers.length, maxLength: headers.length }), {
        minLength: 1,
        maxLength: 4,
      }),
      changed: fc.array(cell, { minLength: headers.length, maxLength: headers.length }),
    }),
  )

test('what is written is what is read, whatever it is and however its column is formatted', async (t) => {
  const ground = await startGoogleGround(t)
  let number = 0
  let cells = 0
  await fc.assert(
    fc.asyncProperty(tab, async ({ headers, formats, added, changed }) => {
      const sheet = await ground.newSheet(`s${number++}`, [headers])
      await sheet.batchUpdate(
        ...formats.flatMap((numberFormat, column) =>
          numberFormat ? formatColumn(column, numberFormat) : [],
        ),
      )
      const rows = added.map((row) => (row.every(isEmpty) ? ['filled', ...row.slice(1)] : row))
      const posted = await sheet.ask('POST', '', { body: rows.map((row) => objectOf(headers, row)) })
      assert.equal(posted.status, 201, JSON.stringify(posted.body))
      assert.deepEqual(posted.body.rows.map(withoutNumber(headers)), rows.map(asRead))
      assert.deepEqual(await listed(), rows.map(asRead))

      const put = await sheet.ask('PUT', '/2', { body: objectOf(headers, changed) })
      assert.equal(put.status, 200, JSON.stringify(put.body))
      assert.deepEqual(cellsOf(headers)(put.body.data), asRead(changed))
      const one = await sheet.ask('GET', changed.every(isEmpty) && rows.length === 1 ? '' : '/2')
      if (Array.isArray(one.body)) assert.deepEqual(one.body, [])
      else assert.deepEqual(cellsOf(headers)(one.body), asRead(changed))
      cells += (rows.length + 1) * headers.length

      async function listed() {
        return (await sheet.ask('GET')).body.map(cellsOf(headers))
      }
    }),
    { numRuns: times(20, 2_000), seed: 20_261_115, endOnFailure: false },
  )
  t.diagnostic(`${number} tabs, ${cells} cells written and read back equal`)
})

function formatColumn(column: number, numberFormat: object): object {
  const range = { sheetId: 0, startRowIndex: 1, startColumnIndex: column, endColumnIndex: column + 1 }
  return {
    repeatCell: {
      range,
      cell: { userEnteredFormat: { numberFormat } },
      fields: 'userEnteredFormat.numberFormat',
    },
  }
}

/** By hand: `__proto__` is a header like any other. */
function objectOf(headers: readonly string[], row: readonly Cell[]): object {
  return Object.fromEntries(headers.map((one, at) => [one, row[at] ?? null]))
}

function cellsOf(headers: readonly string[]) {
  return (row: Record<string, Cell>) => headers.map((one) => row[one])
}

function withoutNumber(headers: readonly string[]) {
  return ({ _row, ...row }: Record<string, Cell>) => cellsOf(headers)(row)
}

function isEmpty(one: Cell | undefined): boolean {
  return one === null || one === ''
}

/** An empty text is an empty cell, and JSON has no negative zero. */
function asRead(row: readonly Cell[]): Cell[] {
  return row.map((one) => (one === '' ? null : Object.is(one, -0) ? 0 : one))
}
