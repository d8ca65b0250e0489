import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSnapshot } from '../../sheets/rows/build-snapshot.ts'
import { listBody } from './list-body.ts'

// Cells of nearly 4 MB: no piece of a list may take long to be made, also where hardly anything of them is sent.
const mostPieceMs = 40
const shape = {
  form: 'a',
  format: 'json',
  fields: null,
  rowNumbers: false,
  escapeFormulas: false,
  bom: false,
} as const
const facts = { total: 6, limit: null, offset: 0, next: null, asOfMs: 0 }

test('pieces of lists with long cells are made in a moment each', () => {
  const texts = ['Жы'.repeat(950_000), '"\\'.repeat(450_000), `=${'x,'.repeat(1_900_000)}`]
  const rows = [...texts, ...texts].map((text, n) => [text, `t${n}`])
  const snapshot = buildSnapshot({ rows: [['long', 'short'], ...rows] })
  const all = { from: 0, count: rows.length, positions: null }
  const some = { ...all, positions: Uint32Array.from(rows.keys()) }

  const cells = made(listBody(snapshot, all, { ...shape, fields: [1] }, facts))
  assert.equal(cells, JSON.stringify(rows.map((_, n) => ({ short: `t${n}` }))))
  const list = made(listBody(snapshot, some, { ...shape, rowNumbers: true }, facts))
  const numbered = rows.map(([long, short], n) => ({ _row: n + 2, long, short }))
  assert.ok(list === JSON.stringify(numbered))
  const csv = made(
    listBody(snapshot, all, { ...shape, format: 'csv', escapeFormulas: true, bom: false }, facts),
  )
  const escaped = (text = '') => (text.startsWith('=') ? `'${text}` : text).replaceAll('"', '""')
  const lines = rows.map(([long, short]) => `"${escaped(long)}",${short}\r\n`)
  assert.ok(csv === `long,short\r\n${lines.join('')}`)
})

function made(pieces: Generator<Uint8Array>): string {
  const all: Uint8Array[] = []
  for (;;) {
    const before = process.threadCpuUsage()
    const next = pieces.next()
    const { user, system } = process.threadCpuUsage(before)
    const tookMs = (user + system) / 1_000
    assert.ok(tookMs < mostPieceMs, `a piece took ${tookMs.toFixed(0)} ms`)
    if (next.done) return Buffer.concat(all).toString()
    all.push(next.value)
  }
}
