import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorTicksOf, readProcessorTicks, stolenShare, waitForCalm } from './stolen-time.ts'

const first = 'cpu  8799 5 2332 31636 106 1 69 2953 0 0\ncpu0 3978 0 1198 16192 19 0 24 1483 0 0\n'
const later = 'cpu  8899 5 2332 99999 206 1 69 3053 0 0\ncpu0 3978 0 1198 16192 19 0 24 1483 0 0\n'

test('what others took is a share of what there was to do, idle time is none of it', () => {
  assert.deepEqual(processorTicksOf(first), { worked: 8799 + 5 + 2332 + 1 + 69, stolen: 2953 })
  assert.equal(stolenShare(processorTicksOf(first), processorTicksOf(later)), 0.5)
  assert.equal(stolenShare(processorTicksOf(first), processorTicksOf(first)), 0)
})

test('whoever waits for a calm machine waits no longer than it may', async () => {
  const { worked, stolen } = readProcessorTicks()
  assert.ok(worked >= 0 && stolen >= 0)
  const neverCalm = -1
  assert.ok((await waitForCalm(neverCalm, 1_000, new AbortController().signal)) < 5_000)
  assert.ok((await waitForCalm(2, 60_000, new AbortController().signal)) < 5_000)
})
