import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, newOperationId } from './new-id.ts'

test('ids say what they name, and no two are the same', () => {
  const ids = Array.from({ length: 5_000 }, (_, n) =>
    n % 2 ? newId('acc') : newOperationId(1_800_000_000_000),
  )
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^(?:acc|op)_[0-9A-Za-z]{22}$/)
  const letters = new Set(ids.flatMap((id) => [...id.slice(-10)]))
  assert.equal(letters.size, 62, 'every letter is drawn')
})

test('operations of a later moment stand behind the earlier ones, until the year 2081', () => {
  const momentsMs = [0, 1, 61, 62, 1_800_000_000_000, 1_800_000_000_001.5, Date.UTC(2081, 0, 1)]
  const ids = momentsMs.map(newOperationId)
  assert.deepEqual(ids.toSorted(), ids)
})
