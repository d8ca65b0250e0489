import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { type CellStyle, type CellValue, readXlsx, type Sheet, writeXlsx } from 'hucre/xlsx'
import { times } from '../../../../../test/soak.ts'
import type { Change, ChangeResult } from '../../../../sheets/change.ts'
import type { Cell } from '../../../../sheets/rows/grid.ts'
import { decodeXlsx } from '../read/xlsx.ts'
import { buildWorkbook, unzip, withPart } from '../workbook.fixture.ts'
import { workbook } from './deletion.fixture.ts'
import { editXlsx } from './edit.ts'

const seed = 29_500
const COLUMNS = 4
/** The validation and the conditional format reach down to here. */
const RULES_END = 50

const anyText = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '<', '&', '"', ' ', '\n', '\t', '1', 'é', '東', '😀', '_', 'x'),
    maxLength: 8,
  }),
  fc.constantFrom('=1+1', '007', 'TRUE', '#N/A', '2026-11-15', ' x ', '__proto__'),
)
const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  anyText,
  fc.integer(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
    .filter((value) => Math.abs(value) > 1e-300)
    .map((value) => Number(value.toPrecision(15))),
  fc.boolean(),
  fc.constant(null),
)
const anyRow = fc.array(anyCell, { minLength: 1, maxLength: COLUMNS })

type Wish =
  | { kind: 'add'; rows: Cell[][] }
  | { kind: 'update'; at: number; cells: { columnIndex: number; value: Cell }[] }
  | { kind: 'delete'; at: number }

const at = fc.double({ min: 0, max: 0.999, noNaN: true })
const anyWish: fc.Arbitrary<Wish> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), rows: fc.array(anyRow, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('update' as const),
    at,
    cells: fc.uniqueArray(fc.record({ columnIndex: fc.nat({ max: COLUMNS - 1 }), value: anyCell }), {
      minLength: 1,
      selector: ({ columnIndex }) => columnIndex,
    }),
  }),
  fc.record({ kind: fc.constant('delete' as const), at }),
)

const fills = ['FF0000', '00FF00', '0000FF', 'FFFF00']

/** A tab with a look for each column, rules, a comment on the header, a frozen row; and a tab that adds it up. */
async function makeWorkbook(rows: Cell[][]): Promise<Uint8Array> {
  const all = [['one', 'two', 'three', 'four'], ...rows]
  const cells = new Map<string, { style?: CellStyle; comment?: { text: string } }>()
  for (const [row, values] of all.entries()) {
    for (const column of values.keys()) {
      const fgColor = { rgb: fills[(row + column) % fills.length] ?? '' }
      const style: CellStyle = { fill: { type: 'pattern', pattern: 'solid', fgColor } }
      if (column === 1) style.numFmt = '0.00'
      cells.set(`${row},${column}`, { style })
    }
  }
  cells.set('0,0', { comment: { text: 'the header' } })
  return writeXlsx({
    sheets: [
      {
        name: 'Data',
        rows: all,
        cells,
        freezePane: { rows: 1 },
        dataValidations: [{ type: 'list', values: ['a', 'b'], range: `C2:C${RULES_END}`, allowBlank: true }],
        conditionalRules: [
          {
            type: 'expression',
            priority: 1,
            formula: '$A2>5',
            range: `A2:D${RULES_END}`,
            style: { font: { bold: true } },
          },
        ],
      },
      {
        name: 'Sums',
        rows: [['total', null]],
        cells: new Map([['0,1', { formula: `SUM(Data!A2:A${RULES_END})`, formulaResult: 0 }]]),
      },
    ],
    namedRanges: [{ name: 'Everything', range: `Data!$A$1:$D$${RULES_END}` }],
  })
}

interface ModelRow {
  cells: Cell[]
  /** Number of the row it was, and what of it was written since. */
  origin: number | null
  written: Set<number>
}

test('any changes equal the same changes to an array of rows, for two readers, and all else survives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRow, { maxLength: 6 }),
      fc.array(anyWish, { minLength: 1, maxLength: 6 }),
      async (rows, wishes) => {
        const before = await makeWorkbook(rows)
        const model = createModel((await decodeXlsx(before, {})).rows)
        const changes: Change[] = []
        const results: ChangeResult[] = []
        for (const wish of wishes) {
          const change = model.toChange(wish)
          if (change === undefined) continue
          changes.push(change)
          results.push(model.make(change))
        }
        const outcome = await editXlsx(before, 'Data', changes)
        assert.ok('bytes' in outcome, JSON.stringify(outcome))
        const withoutMarks = outcome.results.map(({ stale: _stale, ...result }) => result)
        assert.deepEqual(withoutMarks, results)
        assert.deepEqual((await decodeXlsx(outcome.bytes, {})).rows, model.rows())

        const old = await readXlsx(before, { readStyles: true })
        const now = await readXlsx(outcome.bytes, { readStyles: true })
        const [oldData, data] = [sheetOf(old.sheets, 'Data'), sheetOf(now.sheets, 'Data')]
        assert.deepEqual(asGrid(data.rows), model.rows())
        assertLooks(model.model(), oldData, data)
        assertSurvivors(before, outcome.bytes, data, sheetOf(now.sheets, 'Sums'), model.deletions())
        assert.equal(now.namedRanges?.[0]?.range, `Data!$A$1:$D$${RULES_END - model.deletions()}`)
      },
    ),
    { seed, numRuns: times(35, 1_000) },
  )
})

/** Rows of A to C, and a table over the first of them whose last row is its totals. */
function makeTotals(tableRows: number, rowsBelow: number): Uint8Array {
  const rows = Array.from({ length: tableRows + rowsBelow }, (_, at) => {
    const row = at + 1
    const text = at === 0 ? ['one', 'two', 'three'] : [`a${row}`, `b${row}`, `c${row}`]
    const cells = text.map((value, column) => `<c r="${'ABC'[column]}${row}" t="str"><v>${value}</v></c>`)
    return `<row r="${row}">${cells.join('')}</row>`
  })
  return workbook(
    `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
    [],
    [{ type: 'table', path: 'xl/tables/t.xml', data: totalsTable(tableRows) }],
  )
}

const totalsTable = (rows: number): string =>
  `<table displayName="T" totalsRowCount="1" ref="A1:C${rows}"><autoFilter ref="A1:C${rows - 1}"/><tableColumns/></table>`

test('any changes beside a table with totals leave its range and its filter right', async () => {
  const counts = { made: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3, max: 8 }),
      fc.nat({ max: 3 }),
      fc.array(anyWish, { minLength: 1, maxLength: 5 }),
      async (tableRows, rowsBelow, wishes) => {
        const before = makeTotals(tableRows, rowsBelow)
        const model = createModel((await decodeXlsx(before, {})).rows)
        let lastOfTable = tableRows
        let isInTheWay = false
        const changes: Change[] = []
        for (const wish of wishes) {
          const change = model.toChange(wish)
          if (change === undefined) continue
          const isOnTotals = change.kind !== 'add' && change.rowNumber === lastOfTable
          if (isOnTotals) isInTheWay = true
          if (change.kind === 'delete' && change.rowNumber <= lastOfTable) lastOfTable--
          changes.push(change)
          model.make(change)
        }
        // A table needs a row between its headers and its totals.
        if (lastOfTable < 3) isInTheWay = true
        const outcome = await editXlsx(before, undefined, changes)
        if (isInTheWay) {
          assert.ok('changeAt' in outcome && outcome.reason === 'file', 'neither totals nor the only row go')
          counts.refused++
          return
        }
        assert.ok('bytes' in outcome, JSON.stringify(outcome))
        assert.deepEqual((await decodeXlsx(outcome.bytes, {})).rows, model.rows())
        assert.equal(String(unzip(outcome.bytes).get('xl/tables/t.xml')), totalsTable(lastOfTable))
        counts.made++
      },
    ),
    { seed, numRuns: times(60, 2_000) },
  )
  assert.ok(counts.made > 0 && counts.refused > 0, JSON.stringify(counts))
})

test('any changes to a large and very repetitive tab can be read again', async () => {
  const long = 'x'.repeat(30_000)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1_120, max: 1_300 }),
      fc.array(anyWish, { minLength: 1, maxLength: 3 }),
      async (count, wishes) => {
        const before = repetitive(count, long)
        const model = createModel((await decodeXlsx(before, {})).rows)
        const changes: Change[] = []
        for (const wish of wishes) {
          const change = model.toChange(wish)
          if (change === undefined) continue
          changes.push(change)
          model.make(change)
        }
        const outcome = await editXlsx(before, undefined, changes)
        assert.ok('bytes' in outcome, JSON.stringify(outcome))
        assert.deepEqual((await decodeXlsx(outcome.bytes, {})).rows, model.rows())
      },
    ),
    { seed, numRuns: times(1, 25) },
  )
})

/** Compressed so little that it can be opened. */
function repetitive(count: number, text: string): Uint8Array {
  const rows = Array.from({ length: count }, (_, at) => {
    const row = at + 2
    return `<row r="${row}"><c r="A${row}" t="str"><v>${text}</v></c></row>`
  })
  const data = `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>one</v></c></row>${rows.join('')}</sheetData></worksheet>`
  const compressed = deflateRawSync(data, { strategy: constants.Z_FIXED })
  const claims = { inflatedBytes: data.length, checksum: crc32(data) }
  return buildWorkbook({ parts: withPart('xl/worksheets/sheet0.xml', { data: '', compressed, claims }) })
}

function createModel(rows: Cell[][]) {
  const model: ModelRow[] = rows.map((cells, index) => ({
    cells: [...cells],
    origin: index + 1,
    written: new Set(),
  }))
  let deletions = 0
  const cut = (): void => {
    while (model.length > 0 && model.at(-1)?.cells.length === 0) model.pop()
  }
  return {
    model: () => model,
    rows: () => model.map(({ cells }) => cells),
    deletions: () => deletions,
    toChange(wish: Wish): Change | undefined {
      if (wish.kind === 'add') return wish
      if (model.length < 2) return undefined
      const rowNumber = 2 + Math.floor(wish.at * (model.length - 1))
      return wish.kind === 'delete' ? { kind: 'delete', rowNumber } : { ...wish, rowNumber }
    },
    make(change: Change): ChangeResult {
      if (change.kind === 'add') {
        const first = model.length + 1
        const added = change.rows.map((row) => trimmed(row.map(asRead)))
        for (const cells of added) model.push({ cells: [...cells], origin: null, written: new Set() })
        cut()
        return { kind: 'add', rowNumbers: added.map((_, index) => first + index), rows: added }
      }
      const row = model[change.rowNumber - 1]
      assert.ok(row)
      if (change.kind === 'delete') {
        model.splice(change.rowNumber - 1, 1)
        deletions++
        cut()
        return { kind: 'delete', row: row.cells }
      }
      for (const { columnIndex, value } of change.cells) {
        while (row.cells.length <= columnIndex) row.cells.push(null)
        row.cells[columnIndex] = asRead(value)
        row.written.add(columnIndex)
      }
      row.cells = trimmed(row.cells)
      const result: ChangeResult = { kind: 'update', row: [...row.cells] }
      cut()
      return result
    },
  }
}

/** Each cell that was there looks as it did, written or not. */
function assertLooks(model: readonly ModelRow[], old: Sheet, now: Sheet): void {
  for (const [index, { origin, cells }] of model.entries()) {
    if (origin === null) continue
    for (const column of cells.keys()) {
      const before: CellStyle | undefined = old.cells?.get(`${origin - 1},${column}`)?.style
      if (before) assert.deepEqual(now.cells?.get(`${index},${column}`)?.style, before, `row ${index + 1}`)
    }
  }
}

function assertSurvivors(
  before: Uint8Array,
  after: Uint8Array,
  data: Sheet,
  sums: Sheet,
  deletions: number,
): void {
  const end = RULES_END - deletions
  assert.equal(data.dataValidations?.[0]?.range, `C2:C${end}`)
  assert.equal(data.conditionalRules?.[0]?.range, `A2:D${end}`)
  assert.deepEqual(data.freezePane, { rows: 1 })
  assert.equal(data.cells?.get('0,0')?.comment?.text, 'the header')
  assert.equal(sums.cells?.get('0,1')?.formula, `SUM(Data!A2:A${end})`)
  const [old, now] = [unzip(before), unzip(after)]
  assert.deepEqual([...now.keys()], [...old.keys()])
  const mayDiffer = new Set(['xl/workbook.xml', 'xl/worksheets/sheet1.xml'])
  if (deletions > 0) mayDiffer.add('xl/worksheets/sheet2.xml')
  // A result that rests on what was changed is gone; nothing else of the other tab is another.
  for (const [name, content] of old) {
    if (mayDiffer.has(name)) continue
    const unmarked = String(now.get(name)).replace(/<f ca="1">(.*?)<\/f>/, '<f>$1</f><v>0</v>')
    if (name === 'xl/worksheets/sheet2.xml') assert.equal(unmarked, String(content))
    else assert.deepEqual(now.get(name), content, name)
  }
}

function sheetOf(sheets: readonly Sheet[], name: string): Sheet {
  const sheet = sheets.find((candidate) => candidate.name === name)
  assert.ok(sheet)
  return sheet
}

function asGrid(rows: readonly CellValue[][]): Cell[][] {
  const cells = rows.map((row) => trimmed(row.map((cell) => asRead(cell instanceof Date ? 'a date' : cell))))
  return cells.slice(0, cells.findLastIndex((row) => row.length > 0) + 1)
}

function asRead(cell: Cell): Cell {
  return cell === '' ? null : Object.is(cell, -0) ? 0 : cell
}

function trimmed(row: readonly Cell[]): Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
}
