import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGoogleBudget, googleRations } from '../../src/providers/google/client/google-budget.ts'
import type { GoogleCalls } from '../../src/providers/google/client/google-call.ts'
import type { GoogleEndpoints } from '../../src/providers/google/client/google-endpoints.ts'
import type { GoogleTime } from '../../src/providers/google/client/google-time.ts'
import type { ColumnLooks } from '../../src/providers/google/write/column-looks.ts'
import { createGoogleWriting } from '../../src/providers/google/write/google-writing.ts'
import { createDeadline } from '../../src/providers/remote/deadline.ts'
import type { RationKind } from '../../src/providers/remote/rations/budget.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import { createVirtualTime } from './virtual-time.ts'

const writeMs = 400
const minutes = 5

test('a lane that always has something to write is let through about once a second, and never above the ration', async () => {
  const { clock, timers, pass } = createVirtualTime()
  const budget = createGoogleBudget({
    share: createOwnValues(clock),
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
      place.endCall('answered')
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

test('readers get their share of the reads beside a lane that always has something to add', async () => {
  const { clock, timers, pass } = createVirtualTime()
  const parts = { clock, timers, observe: () => {} }
  const budget = createGoogleBudget({
    ...parts,
    share: createOwnValues(clock),
    random: () => 0.5,
    limits: googleRations,
  })
  const { untilTurn } = createGoogleWriting({
    ...parts,
    budget,
    tokens: { subjectOf: () => 'ada' },
    calls: {} as GoogleCalls,
    endpoints: {} as GoogleEndpoints,
    columnLooks: {} as ColumnLooks,
    time: { nowMs: () => null } as unknown as GoogleTime,
    journalTag: 'test',
  })
  let isOver = false
  const call = async (kind: RationKind, isUrgent: boolean, durationMs: number) => {
    const deadline = createDeadline(clock, timers, 60_000)
    const place = await budget.take({ subject: 'ada', kind, isUrgent, deadline })
    await new Promise<void>((resolve) => void timers.after(durationMs, resolve))
    place.endCall('answered')
    deadline.end()
  }
  let [batches, reads] = [0, 0]
  const lane = (async () => {
    for (; !isOver; batches++) {
      await untilTurn({ location: '', credentialId: 'cred' })
      await call('read', true, 300)
      await call('write', true, writeMs)
    }
  })()
  const reader = (async () => {
    for (; !isOver; reads++) await call('read', false, 300)
  })()
  await pass(minutes * 60_000)
  isOver = true
  await pass(120_000)
  await Promise.all([lane, reader])
  assert.ok(reads >= minutes * 20, `${reads} reads in ${minutes} min beside ${batches} batches`)
  assert.ok(batches >= minutes * 20, `${batches} batches in ${minutes} min beside ${reads} reads`)
})
