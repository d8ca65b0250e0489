import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Change, ChangeResult } from '../../../sheets/change.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isRepresentableInCsv } from './cell.ts'
import { decodeCsv } from './csv.ts'
import { detectDialect } from './dialect.ts'
import { editCsv } from './edit.ts'
import { CsvScanner } from './scanner.ts'
import { readCsvText } from './text.ts'

const seed = 4180
const COLUMNS = 3

const anyCell: fc.Arbitrary<Cell> = fc
  .oneof(
    fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '|', '\t', '\r', '\n', ' ', '1', 'é', '😀') }),
    fc.constantFrom('TRUE', '12', '-1.5', '007', '=1+1', ''),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
  )
  .filter(isRepresentableInCsv)

/** A change before it is known how many rows there are. */
type Wish =
  | { kind: 'add'; rows: Cell[][] }
  | { kind: 'update'; at: number; cells: { columnIndex: number; value: Cell }[] }
  | { kind: 'delete'; at: number }

const anyRow = fc.array(anyCell, { minLength: 1, maxLength: COLUMNS })
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

/** Fields as a person or program may have written them: spaces, needless quotes, nothing at all. */
const anyField = fc.constantFrom(
  '',
  '""',
  '1',
  '01',
  '1.50',
  ' .5',
  '1.0E+05',
  '"1"',
  ' x ',
  '"a""b"',
  '"c\nd"',
  'TRUE',
  'é"e',
  '"f" ',
)
const anyFile = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    newlines: fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 3 }),
    bom: fc.constantFrom('', '\uFEFF'),
    endsWithNewline: fc.boolean(),
    rows: fc.array(fc.array(anyField, { maxLength: COLUMNS + 1 }), { maxLength: 6 }),
  })
  .map(({ delimiter, newlines, bom, endsWithNewline, rows }) => {
    const records = [['"id"', 'name', '"other"'], ...rows].map((row) => row.join(delimiter))
    const ended = records.map((record, index) => record + newlines[index % newlines.length])
    const text = ended.join('')
    return new TextEncoder().encode(bom + (endsWithNewline ? text : text.replace(/[\r\n]+$/, '')))
  })

test('any changes to any file equal the same changes to an array of rows, and touch nothing else', () => {
  let made = 0
  fc.assert(
    fc.property(anyFile, fc.array(anyWish, { minLength: 1, maxLength: 6 }), (bytes, wishes) => {
      const rows = decodeCsv(bytes).rows
      const raws = rawFields(bytes).slice(0, rows.length)
      const model = createModel(rows, raws)
      const changes: Change[] = []
      const results: ChangeResult[] = []
      for (const wish of wishes) {
        const change = model.toChange(wish)
        if (change === undefined) continue
        changes.push(change)
        results.push(model.make(change))
      }
      const outcome = editCsv(bytes, changes)
      if ('reason' in outcome) {
        // A file whose delimiter is a guess may be left alone.
        assert.equal(outcome.reason, 'file')
        return
      }
      made++
      assert.deepEqual(outcome.results.map(trimmedResult), results.map(trimmedResult))
      assert.deepEqual(decodeCsv(outcome.bytes).rows.map(trimmed), model.rows().map(trimmed))
      model.assertUntouched(rawFields(outcome.bytes))
      if (changes.length === 0) assert.equal(outcome.bytes, bytes)
    }),
    { seed, numRuns: 500 },
  )
  assert.ok(made > 400, `only ${made} were made`)
})

test('whatever the bytes are, they are edited or refused in words', () => {
  const scribble = fc
    .string({ unit: fc.constantFrom('a', '1', '"', ',', ';', '\t', '\r', '\n', ' ', 'é'), maxLength: 30 })
    .map((text) => new TextEncoder().encode(text))
  let made = 0
  fc.assert(
    fc.property(scribble, fc.nat({ max: 5 }), anyCell, (bytes, rowNumber, value) => {
      try {
        for (const change of [
          { kind: 'delete', rowNumber },
          { kind: 'update', rowNumber, cells: [{ columnIndex: 0, value }] },
        ] as const) {
          const outcome = editCsv(bytes, [change])
          if ('reason' in outcome) continue
          made++
          const wanted = decodeCsv(bytes).rows
          if (change.kind === 'delete') wanted.splice(rowNumber - 1, 1)
          else wanted[rowNumber - 1] = [asRead(value), ...(wanted[rowNumber - 1] ?? []).slice(1)]
          assert.deepEqual(decodeCsv(outcome.bytes).rows.map(trimmed), withoutBlankEnd(wanted).map(trimmed))
        }
      } catch (failure) {
        if (!(failure instanceof ProviderFailure)) throw failure
      }
    }),
    { seed, numRuns: 3000 },
  )
  assert.ok(made > 300, `only ${made} were made`)
})

/** Rows as arrays, each field with the text it must keep, or null where it was written. */
function createModel(rows: Cell[][], raws: string[][]) {
  let model = rows.map((cells, index) => ({
    cells: [...cells],
    raws: [...(raws[index] ?? [])] as (string | null)[],
  }))
  const cut = (): void => {
    while (model.length > 0 && model.at(-1)?.cells.every((cell) => cell === null)) model.pop()
  }
  return {
    rows: () => model.map(({ cells }) => cells),
    toChange(wish: Wish): Change | undefined {
      if (wish.kind === 'add') return wish
      const rowNumber = 2 + Math.floor(wish.at * (model.length - 1))
      if (model.length < 2) return undefined
      return wish.kind === 'delete'
        ? { kind: 'delete', rowNumber }
        : { kind: 'update', rowNumber, cells: wish.cells }
    },
    make(change: Change): ChangeResult {
      if (change.kind === 'add') {
        const first = model.length + 1
        const added = change.rows.map((row) => row.map(asRead))
        model = model.concat(added.map((cells) => ({ cells: [...cells], raws: [] })))
        cut()
        return { kind: 'add', rowNumbers: added.map((_, index) => first + index), rows: added }
      }
      const row = model[change.rowNumber - 1]
      assert.ok(row)
      if (change.kind === 'delete') {
        model.splice(change.rowNumber - 1, 1)
        cut()
        return { kind: 'delete', row: row.cells }
      }
      for (const { columnIndex, value } of change.cells) {
        if ((row.cells[columnIndex] ?? null) === asRead(value)) continue
        while (row.cells.length <= columnIndex) row.cells.push(null)
        row.cells[columnIndex] = asRead(value)
        row.raws[columnIndex] = null
      }
      const result: ChangeResult = { kind: 'update', row: [...row.cells] }
      cut()
      return result
    },
    assertUntouched(after: string[][]): void {
      for (const [index, row] of model.entries()) {
        for (const [column, raw] of row.raws.entries()) {
          // A row that was a blank line had no field to keep, and an empty one alone gets quotes to be a row.
          if (typeof raw === 'string' && raw !== '') assert.equal(after[index]?.[column], raw)
        }
      }
    },
  }
}

/** Each field as it is written. */
function rawFields(bytes: Uint8Array): string[][] {
  const read = readCsvText(bytes)
  const { text } = read
  const scanner = new CsvScanner(text, detectDialect(read).delimiter)
  const records: string[][] = []
  while (scanner.next()) {
    const record = records[scanner.rowNumber - 1] ?? []
    records[scanner.rowNumber - 1] = record
    record.push(text.slice(scanner.start, scanner.end))
  }
  return records
}

function asRead(cell: Cell): Cell {
  return cell === '' ? null : Object.is(cell, -0) ? 0 : cell
}

function trimmed(row: readonly Cell[]): Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
}

function trimmedResult(result: ChangeResult): unknown {
  return result.kind === 'add' ? { ...result, rows: result.rows.map(trimmed) } : trimmed(result.row)
}

function withoutBlankEnd(rows: Cell[][]): Cell[][] {
  return rows.slice(0, rows.findLastIndex((row) => row.some((cell) => cell !== null)) + 1)
}
