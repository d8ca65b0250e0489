import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeadline } from '../../src/sheets/google/deadline.ts'
import { createGoogleBudget, googleRations } from '../../src/sheets/google/google-budget.ts'
import { createVirtualTime } from './virtual-time.ts'

const writeMs = 400
const minutes = 5

test('a lane that always has something to write is let through about once a second, and never above the ration', async () => {
  const { clock, timers, pass } = createVirtualTime()
  const budget = createGoogleBudget({
    clock,
    timers,
    observe: () => {},
    random: () => 0.5,
    limits: googleRations,
  })
  const begunMs = clock.elapsedMs()
  const writes: { fromMs: number; toMs: number }[] = []
  let isOver = false
  const lane = (async () => {
    while (!isOver) {
      const deadline = createDeadline(clock, timers, 25_000)
      const place = await budget.take({ subject: 'ada', kind: 'write', isUrgent: true, deadline })
      const fromMs = clock.elapsedMs() - begunMs
      await new Promise<void>((resolve) => void timers.after(writeMs, resolve))
      place.giveBack('answered')
      deadline.end()
      writes.push({ fromMs, toMs: fromMs + writeMs })
    }
  })()
  await pass(minutes * 60_000)
  isOver = true
  await pass(60_000)
  await lane

  const gaps = writes.slice(1).map(({ fromMs }, at) => fromMs - (writes[at]?.fromMs ?? 0))
  const longestMs = Math.max(...gaps)
  assert.ok(longestMs <= 1_300, `nobody waits for two turns longer than three seconds: ${longestMs} ms`)
  assert.ok(writes.length >= minutes * 58, `${writes.length} writes: the ration is used`)
  for (const { fromMs } of writes) {
    // Wherever in its time each call arrives, at most sixty in any minute.
    const inMinute = writes.filter((one) => one.toMs > fromMs && one.fromMs < fromMs + 60_000 - writeMs)
    assert.ok(inMinute.length <= 61, `${inMinute.length} in the minute from ${fromMs} ms`)
  }
})
