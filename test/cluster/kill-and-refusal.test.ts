import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { quotaExceeded } from '../../emulator/front-end-errors.ts'
import { patienceMs } from '../soak.ts'
import { skipCluster } from './cluster.ts'
import { startOnGoogle } from './instances-on-google.ts'

/** A closure of one second, a call, and the time that a crowded machine takes for both. */
const enoughMs = 5_000

test('an instance is killed in the middle of a call to Google, and Google refuses the next: the others go on at once', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { google, start, ask } = await startOnGoogle(t)
  const [left, ...killed] = await Promise.all([start(), start(), start()])
  assert.ok(left)
  for (const { url } of [left, ...killed]) assert.equal((await ask(url, 'GET')).status, 200)
  const figures: string[] = []
  for (const [at, victim] of killed.entries()) {
    const per = at === 0 ? 'user' : 'project'
    await google.control('POST', 'faults', { match: { kind: 'read' }, kind: 'hang' })
    ask(victim.url, 'GET').catch(() => {})
    while ((await struck()) < 2 * at + 1) await sleep(5)
    victim.child.kill('SIGKILL')
    await victim.ended
    const body = quotaExceeded({ kind: 'read', per, limit: 60, projectNumber: '1' })
    await google.control('POST', 'faults', { match: { kind: 'read' }, kind: 'answer', status: 429, body })
    const begunMs = performance.now()
    const read = await ask(left.url, 'GET')
    const readMs = performance.now() - begunMs
    const written = await ask(left.url, 'PUT', { body: { name: per } })
    const writtenMs = performance.now() - begunMs
    assert.equal(await struck(), 2 * at + 2, 'it was refused')
    assert.deepEqual([read.status, written.status], [200, 200])
    figures.push(
      `${per}: read after ${(readMs / 1_000).toFixed(1)} s, written after ${(writtenMs / 1_000).toFixed(1)} s`,
    )
    assert.ok(writtenMs < enoughMs, figures.join('; '))
  }
  process.stdout.write(`kill -9 in mid-call and one 429 for the … ${figures.join('; ')}\n`)

  /** Of all faults so far, how many calls were struck. */
  async function struck(): Promise<number> {
    const { faults } = await google.control<{ faults: { struck: number }[] }>('GET', 'faults')
    return faults.reduce((sum, fault) => sum + fault.struck, 0)
  }
})
