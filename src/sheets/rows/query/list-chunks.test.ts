import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from '../build-snapshot.ts'
import type { Cell } from '../grid.ts'
import { rowJson } from '../snapshot.ts'
import { type ChunkShape, listChunks, pauseChunk } from './list-chunks.ts'
import { cellAt, cellsAt } from './row-cells.ts'

const seed = 20_261_118
const headers = ['a', '0', 'é"\\', '__proto__', '日']
const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constantFrom('', '\\', '"', 'a\\"b', '},{"a":', '日本😀', 'x'.repeat(100), '\n\0', '\ud800'),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const plain: ChunkShape = { fields: null, rowNumbers: false, wrap: 'array' }

test('rows are shown with the keys asked for, in the order asked for', () => {
  const cases = fc.record({
    rows: fc.array(fc.array(cell, { minLength: 1, maxLength: headers.length }), { maxLength: 12 }),
    picks: fc.array(fc.nat(1_000), { maxLength: 8 }),
    isAll: fc.boolean(),
    fields: fc.option(fc.array(fc.nat(headers.length - 1), { maxLength: 6 })),
    rowNumbers: fc.boolean(),
    wrap: fc.constantFrom<'array' | 'lines'>('array', 'lines'),
  })
  fc.assert(
    fc.property(cases, ({ rows, picks, isAll, ...shape }) => {
      const snapshot = buildSnapshot({ rows: [headers, ...rows] })
      const count = snapshot.rowNumbers.length
      const positions = Uint32Array.from(count === 0 ? [] : picks, (pick) => pick % count)
      const shown = textOf(listChunks(snapshot, isAll ? 'all' : positions, shape))
      const expected = Array.from(isAll ? snapshot.rowNumbers.keys() : positions, (at) => {
        const cells = rows[(snapshot.rowNumbers[at] ?? 0) - 2] ?? []
        const fields = [...new Set(shape.fields ?? headers.keys())]
        const pairs = fields.map(
          (field) => `${JSON.stringify(headers[field])}:${JSON.stringify(cells[field] ?? null)}`,
        )
        if (shape.rowNumbers) pairs.unshift(`"_row":${snapshot.rowNumbers[at]}`)
        return `{${pairs.join(',')}}`
      })
      if (shape.wrap === 'array') assert.equal(shown, `[${expected.join(',')}]`)
      else assert.equal(shown, expected.map((line) => `${line}\n`).join(''))
    }),
    { seed, numRuns: 500 },
  )
})

test('pieces are never larger than 64 KiB, however long the list or one of its rows', () => {
  const rows = Array.from({ length: 3_000 }, (_, n): Cell[] => [
    n,
    'é'.repeat(n === 1_000 ? 100_000 : n % 90),
  ])
  const snapshot = buildSnapshot({ rows: [['n', 'text'], ...rows] })
  const backwards = Uint32Array.from(rows, (_, n) => rows.length - 1 - n)
  for (const positions of ['all', backwards] as const) {
    for (const fields of [null, [1, 0]]) {
      for (const wrap of ['array', 'lines'] as const) {
        const made = [...listChunks(snapshot, positions, { fields, rowNumbers: false, wrap })]
        const chunks = made.filter((chunk) => chunk !== pauseChunk)
        assert.ok(chunks.length > 5)
        for (const { byteLength } of chunks) assert.ok(byteLength > 0 && byteLength <= 64 * 1024)
        const text = textOf(chunks)
        const list = wrap === 'array' ? text : `[${text.trimEnd().replaceAll('\n', ',')}]`
        const shown = (JSON.parse(list) as { n: number; text: string }[]).map(({ n, text }) => [n, text])
        assert.deepEqual(shown, positions === 'all' ? rows : rows.toReversed())
      }
    }
  }
})

test('of rows of megabytes nothing long is copied, and what is copied is handed out as it is made', () => {
  const long = 'x'.repeat(30_000)
  const cells = Array.from({ length: 80 }, (_, n) => (n % 2 === 0 ? long : n))
  const names = cells.map((_, n) => `k${n}`)
  const snapshot = buildSnapshot({ rows: [names, cells, ['short'], cells] })
  const backwards = names.map((_, n) => n).reverse()
  for (const fields of [null, backwards])
    for (const rowNumbers of [false, true]) {
      let copiedBytes = 0
      const made: Uint8Array[] = []
      for (const chunk of listChunks(snapshot, Uint32Array.of(2, 1, 0), {
        fields,
        rowNumbers,
        wrap: 'lines',
      })) {
        if (chunk.buffer !== snapshot.listJson.buffer) copiedBytes += chunk.byteLength
        made.push(chunk)
      }
      assert.ok(copiedBytes < 8_000, `${copiedBytes} of ${snapshot.listJson.byteLength} bytes`)
      const rows = textOf(made)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, Cell>)
      const numbers = rowNumbers ? [4, 3, 2] : [undefined, undefined, undefined]
      assert.deepEqual(
        rows.map(({ _row }) => _row),
        numbers,
      )
      for (const row of [rows[0], rows[2]])
        assert.deepEqual(
          names.map((name) => row?.[name]),
          cells,
        )
      assert.equal(rows[1]?.k0, 'short')
    }
})

test('a chunk that was handed out is not written to again, and neither is the snapshot', () => {
  const rows = Array.from({ length: 5_000 }, (_, n): Cell[] => [`row ${n}`])
  const snapshot = buildSnapshot({ rows: [['a'], ...rows] })
  const before = Buffer.from(snapshot.listJson).toString()
  const taken: { chunk: Uint8Array; text: string }[] = []
  for (const chunk of listChunks(snapshot, 'all', { ...plain, wrap: 'lines' }))
    taken.push({ chunk, text: Buffer.from(chunk).toString() })
  for (const { chunk, text } of taken) assert.equal(Buffer.from(chunk).toString(), text)
  assert.equal(Buffer.from(snapshot.listJson).toString(), before)
})

test('single cells are read from the text of their row', () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: headers.length, maxLength: headers.length }), (cells) => {
      const snapshot = buildSnapshot({ rows: [headers, ...[cells, ['last']]] })
      const row = JSON.parse(rowJson(snapshot, 0)) as Record<string, Cell>
      const parsed = headers.map((key) => Object.getOwnPropertyDescriptor(row, key)?.value as Cell)
      assert.deepEqual(cellsAt(snapshot, 0), parsed)
      for (const column of headers.keys()) assert.equal(cellAt(snapshot, 0, column), parsed[column])
    }),
    { seed, numRuns: 300 },
  )
  const snapshot = buildSnapshot({ rows: [['a'], [1]] })
  for (const [position, column] of [
    [0, 1],
    [1, 0],
    [-1, 0],
    [0, -1],
  ] as const)
    assert.throws(() => cellAt(snapshot, position, column), RangeError)
})

function textOf(chunks: Iterable<Uint8Array>): string {
  return Buffer.concat([...chunks]).toString()
}
