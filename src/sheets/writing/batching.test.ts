import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchLength } from './batching.ts'
import type { Wish } from './order.ts'

const add = (rows = 1): Wish => ({ kind: 'add', rows: Array.from({ length: rows }, () => [['a', 1]]) })
const update = (rowNumber: number, isConditional = false, value: string | null = 'x'): Wish => ({
  kind: 'update',
  rowNumber,
  row: [['a', value]],
  isRowAsExpected: isConditional ? () => true : null,
})
const remove = (rowNumber: number): Wish => ({ kind: 'delete', rowNumber, isRowAsExpected: null })

const near = { isHeaderEnough: false, areDeletionsTogether: false }
const far = { isHeaderEnough: true, areDeletionsTogether: true }

test('what can go together goes together, up to what would mean something else there', () => {
  const cases: [title: string, wishes: Wish[], length: number][] = [
    ['nothing', [], 0],
    ['additions', [add(), add(3), add()], 3],
    ['additions and updates of other rows', [add(), update(2), update(3), add()], 4],
    ['two updates of one row', [update(2), update(2)], 2],
    ['a condition on a row that was changed before it', [update(2), update(3, true), update(2, true)], 2],
    ['a deletion goes alone', [remove(2), add()], 1],
    ['a deletion waits for those before it', [add(), update(2), remove(2), add()], 2],
    ['an update that may leave a blank row ends its batch', [add(), update(2, false, null), add()], 2],
    ['an empty text is a blank too', [update(2, false, ''), add()], 1],
    ['200 orders', Array.from({ length: 300 }, () => add()), 200],
    ['1,000 rows', [add(600), add(400), add(1)], 2],
    ['one order may have as many as it likes', [add(1_000), add(1)], 1],
  ]
  for (const [title, wishes, length] of cases) assert.equal(batchLength(orders(wishes), near), length, title)
})

test('a batch has one sheet, and 1.5 MB at most', () => {
  const [first, second, third] = orders([add(), add(), add()])
  assert.ok(first && second && third)
  assert.equal(batchLength([first, second, { ...third, sheet: { id: 'other', writeSeq: 0 } }], near), 2)
  assert.equal(
    batchLength(
      [
        { ...first, bytes: 1_000_000 },
        { ...second, bytes: 600_000 },
      ],
      near,
    ),
    1,
  )
  assert.equal(batchLength([{ ...first, bytes: 2_000_000 }, second], near), 1)
})

test('where a header is enough for additions, they do not wait for anything that needs more', () => {
  assert.equal(batchLength(orders([add(), add(), update(2)]), far), 2)
  assert.equal(batchLength(orders([update(2), add()]), far), 2)
})

test('where a write is dear, deletions go with others, up to twenty', () => {
  assert.equal(batchLength(orders([remove(2), update(2), remove(3), add()]), far), 4)
  assert.equal(batchLength(orders([add(), remove(2)]), far), 1, 'a header says nothing about rows')
  assert.equal(batchLength(orders(Array.from({ length: 30 }, () => remove(2))), far), 20)
  assert.equal(batchLength(orders([update(2), update(3, false, null), remove(2)]), far), 2)
})

function orders(wishes: readonly Wish[]) {
  return wishes.map((wish) => ({ sheet: { id: 'sheet', writeSeq: 0 }, wish, bytes: 10 }))
}
