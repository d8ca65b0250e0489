import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCodePoint } from '../../../../test/any-code-point.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isRepresentableInCsv } from './cell.ts'
import { appendCsvRows } from './csv.fixture.ts'
import { decodeCsv } from './csv.ts'

const seed = 4180

const anyText = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.string({
    unit: fc.constantFrom('a', 'e', '"', ',', ';', '|', '\t', '\r', '\n', ' ', '1', '.', '-', '+', '\uFEFF'),
  }),
  fc.constantFrom('TRUE', 'FALSE', '12', '-1.5', '007', '=1+1', '.5', '1e+5', ' 5'),
)
const anyCell: fc.Arbitrary<Cell> = fc
  .oneof(anyText, fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
  .filter(isRepresentableInCsv)
const tableOf = (columns: number) =>
  fc.array(fc.array(anyCell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 5 })

/** A file by the book: any header and rows, in any dialect. */
const wellFormedFile = fc
  .record({
    columns: fc.integer({ min: 1, max: 4 }),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.constantFrom('', '\uFEFF'),
    endsWithNewline: fc.boolean(),
  })
  .chain((dialect) => fc.record({ dialect: fc.constant(dialect), former: tableOf(dialect.columns) }))
  .map(({ dialect, former }) => {
    const quoted = (cell: Cell) => `"${String(cell ?? '').replaceAll('"', '""')}"`
    const lines = former.map((row) => row.map(quoted).join(dialect.delimiter))
    const end = dialect.endsWithNewline ? dialect.newline : ''
    return { columns: dialect.columns, bytes: utf8(dialect.bom + lines.join(dialect.newline) + end), former }
  })

const scribble = fc
  .string({ unit: fc.constantFrom('a', '1', '"', ',', ';', '\t', '\r', '\n', ' ', 'é'), maxLength: 30 })
  .map(utf8)

test('a table appended in any dialect reads back equal', () => {
  fc.assert(
    fc.property(
      wellFormedFile.chain((file) => fc.record({ file: fc.constant(file), rows: tableOf(file.columns) })),
      ({ file, rows }) => {
        const asText = file.former.map((row) => row.map((cell) => (cell === null ? null : String(cell))))
        assert.deepEqual(decodeCsv(file.bytes).rows, usedPart(asText.map(asRead)).map(blankIsNone))
        assertAppends(file.bytes, rows)
      },
    ),
    { seed, numRuns: 1000 },
  )
})

test('a row appended to whatever can be read leaves the rest as it was', () => {
  let appendedTo = 0
  fc.assert(
    fc.property(scribble, fc.array(fc.tuple(anyCell), { minLength: 1, maxLength: 3 }), (bytes, rows) => {
      try {
        assertAppends(bytes, rows)
        appendedTo++
      } catch (failure) {
        if (!(failure instanceof ProviderFailure)) throw failure
      }
    }),
    { seed, numRuns: 3000 },
  )
  assert.ok(appendedTo > 1500)
})

test('random bytes are read or refused with a message', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), scribble), (bytes) => {
      try {
        decodeCsv(bytes)
      } catch (failure) {
        assert.ok(failure instanceof ProviderFailure)
      }
    }),
    { seed, numRuns: 3000 },
  )
})

function assertAppends(bytes: Uint8Array, rows: Cell[][]): void {
  const before = decodeCsv(bytes).rows
  const after = appendCsvRows(bytes, rows)
  const wanted = usedPart([...before, ...rows.map(asRead)])
  assert.deepEqual(decodeCsv(after).rows.map(withoutEmptyEnd), wanted.map(withoutEmptyEnd))
  assert.ok(holdsAllOf(bytes, after))
}

/** What was there stays to the byte, blank records at the end too: something is put in at one place. */
function holdsAllOf(before: Uint8Array, after: Uint8Array): boolean {
  const differs = before.findIndex((byte, index) => byte !== after[index])
  if (differs === -1) return true
  const rest = Buffer.from(before.subarray(differs))
  return Buffer.from(after.subarray(after.length - rest.length)).equals(rest)
}

function asRead(row: Cell[]): Cell[] {
  return row.map((cell) => (cell === '' ? null : Object.is(cell, -0) ? 0 : cell))
}

function usedPart(rows: Cell[][]): Cell[][] {
  return rows.slice(0, rows.findLastIndex((row) => row.some((cell) => cell !== null)) + 1)
}

/** Of a blank row nothing is kept, whatever its fields are. */
function blankIsNone(row: Cell[]): Cell[] {
  return row.every((cell) => cell === null) ? [] : row
}

function withoutEmptyEnd(row: Cell[]): Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
