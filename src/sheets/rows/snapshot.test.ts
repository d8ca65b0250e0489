import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import fc from 'fast-check'
import { anyCodePoint } from '../../../test/any-code-point.ts'
import { buildSnapshot } from './build-snapshot.ts'
import type { Cell } from './grid.ts'
import { cellsAt } from './query/row-cells.ts'
import { runQuery } from './query/run-query.ts'
import { createRowWriter, writeList } from './row-json.ts'
import { type IndexedSnapshot, indexBuffers, rowBuffers, rowJson } from './snapshot.ts'
import { columnsOf } from './table.ts'

const seed = 20_261_116

/** Texts that look like the end of a row, in columns whose names look like that too. */
const trap = fc.constantFrom(
  '},{',
  '},{"a":',
  '"},{"a":1',
  '\\',
  '\\"',
  'a},{"',
  ',',
  ':',
  '{"a":',
  '日',
  '\n',
  '\ud800',
)
const header = fc.constantFrom(
  'a',
  'b',
  '},{',
  '"',
  ',',
  ':',
  '0',
  '__proto__',
  '',
  'é"',
  'toJSON',
  'a},{"a',
  '日',
)
const cell: fc.Arbitrary<Cell> = fc.oneof(
  trap,
  fc.array(trap, { maxLength: 4 }).map((parts) => parts.join('')),
  fc.string({ unit: anyCodePoint, maxLength: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)

test('many rows at once are written as each alone, and each begins where it is said to', () => {
  const grids = fc.record({
    headers: fc.array(header, { minLength: 1, maxLength: 4 }),
    rows: fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 200, size: 'medium' }),
    emptyCell: fc.constantFrom<'' | null>('', null),
  })
  fc.assert(
    fc.property(grids, ({ headers, rows, emptyCell }) => {
      const columns = columnsOf({ rows: [headers] })
      const written = rows.map(createRowWriter(columns, emptyCell))
      const list = writeList(columns, rows, 1e9, emptyCell)
      assert.ok(list)
      assert.equal(Buffer.from(list.listJson).toString(), `[${written.join(',')}]`)
      written.forEach((json, at) => {
        assert.equal(rowJson({ ...buildSnapshot({ rows: [] }), ...list }, at), json)
      })
    }),
    { seed, numRuns: 300 },
  )
})

test('a list is refused when it is one byte too long, not before', () => {
  for (const headers of [['name'], ['0']]) {
    const columns = columnsOf({ rows: [headers] })
    const rows = Array.from({ length: 500 }, (_, n) => [`é ${n}`])
    const bytes = writeList(columns, rows, 1e9)?.listJson.byteLength ?? 0
    assert.equal(writeList(columns, rows, bytes)?.listJson.byteLength, bytes)
    assert.equal(writeList(columns, rows, bytes - 1), null)
  }
})

test('a long list is in memory once while it is written', async (t) => {
  const script = new URL('./list-memory.fixture.ts', import.meta.url).pathname
  // As servers are started: else what is freed would stay with the process (docs/decisions/017).
  const env = { ...process.env, MALLOC_MMAP_THRESHOLD_: '65536' }
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env })
  const { listBytes, tookBytes } = JSON.parse(stdout) as Record<string, number>
  const times = (tookBytes ?? 0) / (listBytes ?? 1)
  t.diagnostic(`${((listBytes ?? 0) / 1e6).toFixed(0)} MB: ${times.toFixed(2)} times as much`)
  assert.ok(times < 1.4, `${times.toFixed(2)} times its length`)
})

test('a snapshot arrives in another thread whole, without one byte being copied', () => {
  const rows: Cell[][] = [
    ['a', 'b'],
    ['x', 1],
    ['y', 2],
    [null, 3],
    ['X', true],
  ]
  const sent = buildSnapshot({ rows })
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(sent, buffersOf(sent) as ArrayBuffer[])
  const { message: snapshot } = receiveMessageOnPort(port2) as { message: typeof sent }
  port1.close()
  for (const { byteLength } of [
    sent.listJson,
    sent.rowStarts,
    sent.rowNumbers,
    sent.indexes.codes,
    sent.indexes.facts,
  ])
    assert.equal(byteLength, 0, 'handed over')
  const { propertiesJson, writtenPropertiesJson, keysJson, exampleRowsJson } = snapshot.description
  assert.equal(
    snapshot.sizeInBytes,
    buffersOf(snapshot).reduce((sum, { byteLength }) => sum + byteLength, 0) +
      [propertiesJson, writtenPropertiesJson, keysJson, exampleRowsJson].flat(2).join('').length,
  )
  const filters = [{ column: 0, operator: 'eq' as const, values: ['x'] }]
  const found = runQuery(snapshot, { filters, search: null, sort: [], limit: null, offset: 0 })
  assert.deepEqual(
    Array.from(found.positions, (at) => cellsAt(snapshot, at)),
    [
      ['x', 1],
      ['X', true],
    ],
  )
})

test('a snapshot holds at most twice its JSON text, also where no cell comes twice', () => {
  const rows = 5_000
  const scattered = (n: number) => (n * 7919) % 100_003
  const tables: Record<string, (n: number, column: number) => Cell> = {
    'distinct numbers': (n, column) => scattered(n + column),
    'short distinct texts': (n, column) => scattered(n + column).toString(36),
    'few digits': (n) => n % 10,
    'mostly empty': (n, column) => (n % 10 === column ? n : null),
  }
  for (const [what, cellOf] of Object.entries(tables)) {
    const headers = Array.from({ length: 10 }, (_, at) => String.fromCharCode(97 + at))
    const grid = Array.from({ length: rows }, (_, n) => headers.map((_, column) => cellOf(n, column)))
    const { sizeInBytes, listJson } = buildSnapshot({ rows: [headers, ...grid] })
    assert.ok(sizeInBytes <= 2 * listJson.byteLength, `${what}: ${sizeInBytes / listJson.byteLength}`)
  }
})

function buffersOf(snapshot: IndexedSnapshot): ArrayBufferLike[] {
  return [...rowBuffers(snapshot), ...indexBuffers(snapshot.indexes)]
}
