import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from '../process/running.ts'
import { times } from '../soak.ts'
import { skipCluster } from './cluster.ts'
import { startProcesses } from './instances.ts'
import { createRetryingWriter, tally } from './retrying-writer.ts'

test('an instance is killed in mid-write: the other one settles what it left, and nothing is lost or doubled', {
  skip: skipCluster,
}, async (t) => {
  const { start, apiKey, path, file, workshop } = await startProcesses(t)
  const instances = await Promise.all([start(), start()])
  const urls = () => instances.map(({ url }) => url)
  const writers = Array.from({ length: 8 }, () => createRetryingWriter(t, urls, path, apiKey))
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const writing = writers.map(async (writer, at) => {
    for (let n = 0; !isOver; n++) await writer.write(`${at}-${n}`)
  })
  const kills = times(2, 20)
  const settledAfterMs: number[] = []
  const flowingAfterMs: number[] = []
  const acknowledgedNow = () => writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0)
  let openAtKills = 0
  for (let kill = 0; kill < kills; kill++) {
    const enough = acknowledgedNow() + 5 * writers.length
    while (acknowledgedNow() < enough) await sleep(5)
    const at = kill % 2
    await stopWhileSending(instances[at])
    instances[at]?.child.kill('SIGKILL')
    const killedMs = performance.now()
    await instances[at]?.ended
    const left = await openIds()
    openAtKills += left.length
    // The living one does this alone: the killed one is not started again before.
    while ((await openIds()).some((id) => left.includes(id))) await sleep(20)
    settledAfterMs.push(performance.now() - killedMs)
    const before = acknowledgedNow()
    while (acknowledgedNow() < before + writers.length) await sleep(5)
    flowingAfterMs.push(performance.now() - killedMs)
    instances[at] = await start()
  }
  isOver = true
  await Promise.all(writing)
  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  const rows = (await readFile(file, 'utf8')).trim().split('\n').slice(2)
  const lost = acknowledged.filter((name) => !rows.includes(name))
  process.stdout.write(
    `kills: ${kills} kills of one of 2 instances, ${openAtKills} operations open, all settled by the other at most ` +
      `${Math.max(...settledAfterMs).toFixed(0)} ms later, writes flow again at most ${Math.max(...flowingAfterMs).toFixed(0)} ms later; ${acknowledged.length} acknowledged, ${lost.length} lost, ` +
      `${rows.length - new Set(rows).size} doubled (${tally(writers)})\n`,
  )
  assert.deepEqual(lost, [])
  assert.equal(rows.length, new Set(rows).size)
  assert.ok(openAtKills > 0, 'the kills hit writes under way')
  assert.ok(Math.max(...settledAfterMs, ...flowingAfterMs) < 9_000)

  /** Stopped, it cannot move on: what stays open for longer than a write takes is what the kill will leave. */
  async function stopWhileSending(instance: RunningServer | undefined): Promise<void> {
    for (;;) {
      while ((await openIds()).length === 0) await sleep(1)
      instance?.child.kill('SIGSTOP')
      const [open] = await openIds()
      await sleep(150)
      if (open !== undefined && (await openIds()).includes(open)) return
      instance?.child.kill('SIGCONT')
      await sleep(7)
    }
  }

  async function openIds(): Promise<string[]> {
    const source = (await workshop.store.sheetsOf((await workshop.store.findAccount('acme'))?.id ?? ''))[0]
      ?.source
    return (await workshop.store.sendingOperations(source ?? '')).map(({ id }) => id)
  }
})
