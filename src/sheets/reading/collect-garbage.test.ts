import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { collectGarbage, collectGarbageNowAndThen } from './collect-garbage.ts'

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

test('where others are answered it is not looked for again and again', async () => {
  const collected = () => performance.eventLoopUtilization().active
  collectGarbageNowAndThen()
  await sleep(100)
  const beforeMs = collected()
  for (let n = 0; n < 100; n++) {
    collectGarbageNowAndThen()
    await sleep(1)
  }
  assert.ok(collected() - beforeMs < 100, `${collected() - beforeMs} ms`)
})
