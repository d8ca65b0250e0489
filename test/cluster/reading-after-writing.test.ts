import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs, times } from '../soak.ts'
import { skipCluster, startCluster } from './cluster.ts'

test('R13: what was written on one instance is read on the other, at once', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { connectFile, createKey, instances } = await startCluster(t)
  const key = await createKey()
  const pairs = times(1_000, 50_000)
  const sheets = ['a', 'b', 'c', 'd']
  const stale: string[] = []
  for (const slug of sheets) await connectFile(slug, 'name,count\nfirst,0\n')
  const begunMs = performance.now()
  await Promise.all(
    sheets.map(async (slug) => {
      const clients = instances.map(({ port }) => ({ port, ...createLoadClient() }))
      t.after(() => {
        for (const { close } of clients) close()
      })
      for (let n = 1; n <= pairs / sheets.length; n++) {
        const [writer, reader] = n % 2 === 0 ? clients : clients.toReversed()
        assert.ok(writer && reader)
        const asked = { path: `/api/sheets/acme/${slug}/2`, apiKey: key }
        const body = JSON.stringify({ count: n })
        const written = await writer.ask({ ...asked, port: writer.port, method: 'PUT', body })
        assert.equal(written.status, 200, JSON.stringify(written))
        const read = await reader.ask({ ...asked, port: reader.port })
        const { count } = JSON.parse(read.status === 200 ? read.text : '{}') as { count?: number }
        if (count !== n) stale.push(`${slug}: ${count} after ${n}`)
      }
    }),
  )
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1)
  process.stdout.write(`R13: ${pairs} pairs over 2 instances in ${seconds} s, ${stale.length} stale\n`)
  assert.deepEqual(stale, [])
})
