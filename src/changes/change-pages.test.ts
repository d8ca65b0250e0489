import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ChangePage, createChangePages } from './change-pages.ts'
import type { ChangesRead } from './reading-changes.ts'

const epoch = 'abcdefgh'

/** A log of one change of so many characters; how often it was read. */
function startPages(characters: number) {
  let reads = 0
  const pages = createChangePages({
    changes: {
      async after(_sheetId, place): Promise<ChangesRead> {
        reads++
        const after = 'x'.repeat(characters)
        const change = { kind: 'changed', row: 2, before: '{}', after } as never
        const changes = [{ cursor: `${epoch}-1`, atMs: 1, change }]
        return { changes, next: { ...place, seq: 1 }, hasMore: false }
      },
    },
    following: { waitFor: () => new Promise(() => {}) },
  })
  const follow = async () => {
    const taken: ChangePage[] = []
    pages.next('sh_1', { epoch, seq: 0 }, (page) => taken.push(page))
    for (let nth = 0; nth < 3; nth++) await nextTurn()
    assert.equal(taken.length, 1)
    return taken[0]
  }
  return { follow, reads: () => reads }
}

test('whoever comes a little later is handed the page that was read', async () => {
  const { follow, reads } = startPages(1_000)
  assert.equal(await follow(), await follow())
  assert.equal(reads(), 1)
})

test('a page with a very long change is handed to all who wait for it, and not kept', async () => {
  const { follow, reads } = startPages(4_000_000)
  const [one, other] = await Promise.all([follow(), follow()])
  assert.equal(one, other)
  assert.equal(reads(), 1)
  await follow()
  assert.equal(reads(), 2)
})
