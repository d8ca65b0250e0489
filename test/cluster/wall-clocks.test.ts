import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GoogleProcess } from '../google/google-process.ts'
import { patienceMs } from '../soak.ts'
import { skipCluster } from './cluster.ts'
import { startOnGoogle } from './instances-on-google.ts'

const lateMs = 15_000

test('a keyed addition is done once, though its batch comes late and the clocks of others are ahead', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { google, spreadsheetId, start, ask } = await startOnGoogle(t)
  const [one, ...ahead] = await Promise.all([start(), start(wallClock(660)), start(wallClock(1_200))])
  assert.ok(one)
  const fault = { match: ':batchUpdate', kind: 'applyLate', delayMs: lateMs, lose: 'reset' }
  await google.control('POST', 'faults', fault)
  const begunMs = performance.now()
  const added = await ask(one.url, 'POST', { body: { name: 'late' }, key: 'late' })
  assert.equal(added.status, 201, added.text)
  // What stands in the way of the late one must outlive whatever the others clear away meanwhile.
  for (let n = 0; n < 6; n++) {
    const other = await ask(ahead[n % 2]?.url ?? '', 'POST', { body: { name: `meanwhile ${n}` } })
    assert.equal(other.status, 201, other.text)
  }
  assert.ok(performance.now() - begunMs < lateMs, 'the others wrote before the late one came')
  const status = await lateStatus(google)
  const times = (await google.cells(spreadsheetId)).filter(([cell]) => cell === 'late').length
  process.stdout.write(
    `clocks +660 s and +1,200 s: the late batch got ${status}, its row is there ${times} ×\n`,
  )
  assert.equal(times, 1)
})

/** What Google said to the late batch when it came at last. */
async function lateStatus(google: GoogleProcess): Promise<number> {
  for (;;) {
    const { calls } = await google.control<{ calls: { lateStatus: number | null }[] }>('GET', 'calls')
    const late = calls.find(({ lateStatus }) => lateStatus !== null)
    if (late?.lateStatus) return late.lateStatus
    await sleep(50)
  }
}

/** Another time of day for one process; how fast time passes is the same. */
function wallClock(aheadSeconds: number): Record<string, string> {
  const script = `const now=Date.now;Date.now=()=>now()+${aheadSeconds * 1_000}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}
