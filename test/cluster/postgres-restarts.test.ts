import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs } from '../soak.ts'
import { skipCluster, startCluster } from './cluster.ts'
import { createRetryingWriter, type RetryingWriter, tally } from './retrying-writer.ts'

interface Read {
  status: number | null
  begunMs: number
  endedMs: number
}

test('R24: PostgreSQL is killed and comes back: 503 at once meanwhile, nothing acknowledged is lost or doubled', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  let isOver = false
  // Before the cluster's own: one whose closing fails keeps later ones from being called, and clients that never stop find whoever has the port next.
  t.after(() => {
    isOver = true
  })
  const { instances, postgres, connectFile, createKey } = await startCluster(t, { fsync: true })
  const { file } = await connectFile('written', 'name\nfirst\n')
  await connectFile('read', 'name\nfirst\n')
  const key = await createKey()
  const rounds = 3
  const reads: Read[] = []
  const readers = instances.flatMap(({ port }) =>
    Array.from({ length: 2 }, async () => {
      const client = createLoadClient()
      while (!isOver) {
        const path = '/api/sheets/acme/read'
        reads.push(await client.ask({ port, path, apiKey: key }))
        await sleep(5)
      }
      client.close()
    }),
  )
  const urls = instances.map(({ url }) => url)
  const writers = Array.from({ length: 4 }, () =>
    createRetryingWriter(t, () => urls, '/api/sheets/acme/written', key),
  )
  const writing = writers.map(async (writer, at) => {
    for (let n = 0; !isOver; n++) await writer.write(`${at}-${n}`)
  })

  const away: { fromMs: number; toMs: number }[] = []
  const healthyAfterMs: number[] = []
  const writtenAfterMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    await sleep(500)
    await postgres.kill()
    // The sessions of a killed postmaster answer until they notice.
    for (const { url } of instances) {
      while ((await fetch(`${url}/readyz`)).status === 200) await sleep(20)
    }
    await sleep(200)
    const fromMs = performance.now()
    await sleep(1_000)
    const toMs = performance.now()
    away.push({ fromMs, toMs })
    await postgres.restart()
    const backMs = performance.now()
    for (const { url } of instances) {
      while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(20)
    }
    healthyAfterMs.push(performance.now() - backMs)
    const before = acknowledgedBy(writers)
    while (acknowledgedBy(writers) === before) await sleep(10)
    writtenAfterMs.push(performance.now() - backMs)
  }
  await sleep(500)
  isOver = true
  await Promise.all([...readers, ...writing])

  const during = reads.filter(({ begunMs, endedMs }) =>
    away.some(({ fromMs, toMs }) => begunMs > fromMs && endedMs < toMs),
  )
  const wrong = during.filter(({ status }) => status !== 503)
  const slowestMs = Math.max(...during.map(({ begunMs, endedMs }) => endedMs - begunMs))
  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  const rows = (await readFile(file, 'utf8')).trim().split('\n').slice(2)
  const lost = acknowledged.filter((name) => !rows.includes(name))
  process.stdout.write(
    `R24: PostgreSQL killed ${rounds} times: ${during.length} reads while it was away, ${wrong.length} not 503, ` +
      `slowest ${slowestMs.toFixed(0)} ms; ready again at most ${Math.max(...healthyAfterMs).toFixed(0)} ms after it was back, ` +
      `the first write acknowledged at most ${Math.max(...writtenAfterMs).toFixed(0)} ms after; ` +
      `${acknowledged.length} writes acknowledged, ${lost.length} lost, ${rows.length - new Set(rows).size} doubled ` +
      `(${tally(writers)})\n`,
  )
  assert.deepEqual(wrong.slice(0, 3), [])
  assert.ok(during.length > 50 && slowestMs < 2_500)
  assert.ok(Math.max(...healthyAfterMs) < 5_000)
  assert.deepEqual(lost, [])
  assert.equal(rows.length, new Set(rows).size)
  assert.ok(Math.max(...writtenAfterMs) < 5_000)
  assert.ok(acknowledged.length > 10)
  const unexpected = reads.filter(({ status }) => status !== 200 && status !== 503)
  assert.deepEqual(unexpected.slice(0, 3), [])
  const open = (await instances[0]?.workshop.store.unfinishedOperations()) ?? []
  assert.deepEqual(open, [])
})

function acknowledgedBy(writers: readonly RetryingWriter[]): number {
  return writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
}
