import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Change } from '../../../sheets/change.ts'
import { followRows } from './row-turns.ts'

test('a row is followed through every deletion, as a list of rows would tell', () => {
  const change = fc.record({ kind: fc.constantFrom('update', 'delete'), at: fc.nat(7) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 6 }), (wanted) => {
      const rows = Array.from({ length: 20 }, (_, at) => at + 1)
      const meant: number[] = []
      const changes = wanted.map(({ kind, at }): Change => {
        const rowNumber = at + 2
        meant.push(rows[rowNumber - 1] ?? 0)
        if (kind === 'delete') rows.splice(rowNumber - 1, 1)
        return kind === 'delete' ? { kind: 'delete', rowNumber } : { kind: 'update', rowNumber, cells: [] }
      })
      const turns = followRows(changes)
      assert.deepEqual(
        changes.map((_, changeAt) => turns.before(changeAt)),
        meant,
      )
      for (let row = 1; row <= 20; row++) {
        const place = rows.indexOf(row)
        assert.equal(turns.after(row), place < 0 ? null : place + 1)
      }
    }),
    { seed: 7 },
  )
})
