import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Timers } from '../../timers.ts'
import { collectGarbage, collectGarbageWhenCalm } from './collect-garbage.ts'

const rowsBytes = 128 * 1_024 * 1_024

test('what nobody holds any more is given back to the system, and nothing else', async () => {
  const rows: (Uint8Array | null)[] = [new Uint8Array(rowsBytes).fill(1), new Uint8Array(rowsBytes).fill(2)]
  // From now on they are old, and do not go with the young garbage that is looked at all the time.
  collectGarbage()
  await sleep(50)
  const beforeBytes = process.memoryUsage.rss()
  rows[0] = null
  collectGarbage()
  const endMs = performance.now() + 60_000
  const isGone = () => beforeBytes - process.memoryUsage.rss() > rowsBytes / 2
  while (!isGone() && performance.now() < endMs) await sleep(5)
  assert.ok(isGone(), 'it is still there')
  assert.equal(rows[1]?.at(-1), 2)
})

test('where others are answered it is looked for once, when nothing was dropped for a while', () => {
  const due = new Map<number, { delayMs: number; work: () => void }>()
  const timers: Timers = {
    after(delayMs, work) {
      const id = due.size
      due.set(id, { delayMs, work })
      return () => void due.delete(id)
    },
  }
  for (let n = 0; n < 100; n++) collectGarbageWhenCalm(timers)
  assert.equal(due.size, 1)
  const [[, { delayMs, work }] = assert.fail()] = due
  assert.ok(delayMs >= 5_000, `${delayMs} ms`)
  work()
})
