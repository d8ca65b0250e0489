import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { columnsOf } from '../../../sheets/rows/table.ts'
import { decodeCsvHeader } from '../csv-header.ts'
import { appendToCsv, areFewAdditions } from './append.ts'
import { editCsv } from './edit.ts'

const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '|', '\t', '\r', '\n', ' ', '1', 'é', '😀', '\ud800'),
  }),
  fc.constantFrom('TRUE', '12', '007', '=1+1', '', 'x\0'),
  fc.integer(),
  fc.constant(null),
)
const addition = fc.record({
  kind: fc.constant('add' as const),
  rows: fc.array(fc.array(anyCell, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
})
const anyField = fc.constantFrom('', '""', '1', ' x ', '"a""b"', '"a,b"', '"two\nlines"', 'é', 'a;b', 'sep=;')
const anyFile = fc
  .record({
    bom: fc.constantFrom('', '\ufeff'),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    newline: fc.constantFrom('\n', '\n', '\r\n', '\r'),
    header: fc.constantFrom(
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
      ['a ', '', ' c '],
      ['"x,y"', 'b', 'c;'],
      ['', '', ''],
      ['a'],
    ),
    records: fc.array(fc.array(anyField, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
    end: fc.constantFrom('\n', '\n', '\r\n', '', '\n\n', '\n,,\n'),
  })
  .map(
    ({ bom, delimiter, newline, header, records, end }) =>
      bom + [header, ...records].map((fields) => fields.join(delimiter)).join(newline) + end,
  )

test('what is appended is what editing the whole file makes of it, in bytes, in answers and in refusals', () => {
  let appendedOften = 0
  fc.assert(
    fc.property(
      anyFile,
      addition,
      fc.array(addition, { minLength: 1, maxLength: 3 }),
      (text, first, more) => {
        const before = tryEdit(Buffer.from(text), [first])
        if (!before?.known) return
        appendedOften++
        const appended = appendToCsv(before.known.end, more)
        const whole = editCsv(before.bytes, more)
        if ('changeAt' in appended || 'changeAt' in whole) return assert.deepEqual(appended, whole)
        assert.deepEqual(Buffer.concat([before.bytes, appended.bytes]), Buffer.from(whole.bytes))
        assert.deepEqual(appended.results, whole.results)
        assert.deepEqual(appended.known, whole.known ?? null)
        const columns = columnsOf({ rows: [before.known.header] })
        assert.deepEqual(columns, columnsOf(decodeCsvHeader(before.bytes)))
      },
    ),
    { numRuns: 1_000, seed: 20_261_117 },
  )
  assert.ok(appendedOften > 100, `${appendedOften} of them can be appended to`)
})

test('only additions are appended, and only few', () => {
  const add = (rows: Cell[][]): Change => ({ kind: 'add', rows })
  assert.equal(areFewAdditions([]), false)
  assert.equal(areFewAdditions([add([['a', 1]])]), true)
  assert.equal(areFewAdditions([add([['a']]), { kind: 'delete', rowNumber: 2 }]), false)
  assert.equal(areFewAdditions([add(Array.from({ length: 2_001 }, () => [1]))]), false)
  assert.equal(areFewAdditions([add([['a'.repeat(70_000)]])]), false)
})

/** null where the file or the change is refused. */
function tryEdit(bytes: Uint8Array, changes: readonly Change[]) {
  try {
    const edited = editCsv(bytes, changes)
    return 'changeAt' in edited ? null : edited
  } catch {
    return null
  }
}
