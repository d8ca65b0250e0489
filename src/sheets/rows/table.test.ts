import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCodePoint } from '../../../test/any-code-point.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { maxRowBytes, positionOf, rowJson } from './snapshot.ts'
import { columnsOf, maxColumns, maxHeaderBytes, servedColumnsOf } from './table.ts'

test('whatever the headers are, no column is lost and no key comes twice', () => {
  const header = fc.oneof(
    fc.constantFrom(
      'a',
      'a_2',
      'a_3',
      ' a ',
      '__proto__',
      '_row',
      '_row_2',
      'constructor',
      '1',
      '',
      null,
      true,
      7,
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(header, { maxLength: 12 }), (headers) => {
      const columns = columnsOf({ rows: [headers] })
      const named = headers.filter((cell) => cell !== null && String(cell).trim() !== '')
      assert.equal(columns.length, named.length)
      assert.equal(new Set(columns.map(({ key }) => key)).size, columns.length)
      assert.ok(columns.every(({ key }) => key !== '_row'))
    }),
    { seed: 20261115, numRuns: 500 },
  )
})

test('as many columns as there may be, all of one name, take no time to speak of', () => {
  const columns = columnsOf({ rows: [Array.from({ length: maxColumns }, () => 'same')] })
  assert.equal(columns.at(-1)?.key, `same_${maxColumns}`)
})

test('a header with more names than there may be is refused, in words for its owner', () => {
  const named = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`)
  assert.throws(() => servedColumnsOf({ rows: [named(maxColumns + 1)] }), {
    name: 'ProviderFailure',
    message:
      'the sheet has more than 2,000 columns with a name in row 1; remove some, or split the sheet into several',
  })
  const tooLongAsJson = { rows: [['\u0001'.repeat(maxHeaderBytes / 6 + 1)]] }
  assert.throws(() => servedColumnsOf(tooLongAsJson), /more than 128 KiB/)
  const long = 'x'.repeat(maxHeaderBytes / 4)
  assert.equal(servedColumnsOf({ rows: [[long, long, long, long]] }).length, 4)
  assert.throws(() => servedColumnsOf({ rows: [[long, long, long, `${long}y`]] }), {
    message: 'the names in row 1 have more than 128 KiB together; shorten them',
  })
})

test('columns without a name do not count, as far as a spreadsheet reaches', () => {
  const blanks = Array.from({ length: 18_276 }, () => null)
  assert.deepEqual(servedColumnsOf({ rows: [['first', ...blanks, 'last']] }), [
    { key: 'first', index: 0 },
    { key: 'last', index: 18_277 },
  ])
  assert.throws(() => servedColumnsOf({ rows: [['first', ...blanks, ' ', 'last']] }), {
    message: /farther right than column 18,278/,
  })
})

test('a row that is too long to be handled as a whole is refused by its number', () => {
  const rows = [['a', 'b'], [1, 2], ['x'.repeat(maxRowBytes)]]
  assert.throws(() => buildSnapshot({ rows }), {
    name: 'ProviderFailure',
    message: /^row 3 has more than 4 MiB/,
  })
})

test('a small file whose headers would make a huge list is refused before it is made', () => {
  const rows = [['x'.repeat(1_000_000)], ...Array.from({ length: 2_000 }, () => [1])]
  assert.throws(() => buildSnapshot({ rows }), { name: 'ProviderFailure' })
})

test('a snapshot is the JSON that the cells are, row by row, whatever they hold', () => {
  const cell = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: anyCodePoint }),
  )
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 20 }), (rows) => {
      const snapshot = buildSnapshot({ rows: [['x', '__proto__', '0'], ...rows] })
      const list = JSON.parse(Buffer.from(snapshot.listJson).toString()) as Record<string, unknown>[]
      const expected = rows
        .map((row, at) => ({ row, number: at + 2 }))
        .filter(({ row }) => row.some((c) => c !== null))
      assert.deepEqual(
        list.map((row) =>
          ['x', '__proto__', '0'].map((key) => Object.getOwnPropertyDescriptor(row, key)?.value),
        ),
        expected.map(({ row }) => row.map((c) => (Object.is(c, -0) ? 0 : c))),
      )
      assert.deepEqual(
        [...snapshot.rowNumbers],
        expected.map(({ number }) => number),
      )
      for (const [at, { number }] of expected.entries()) {
        assert.equal(positionOf(snapshot, number), at)
        assert.deepEqual(JSON.parse(rowJson(snapshot, at)), list[at])
      }
      assert.equal(positionOf(snapshot, rows.length + 2), null)
    }),
    { seed: 20261115, numRuns: 300 },
  )
})
