import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done } from '../harness.ts'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs } from '../soak.ts'
import { skipCluster, startCluster } from './cluster.ts'

const accounts = 16
/** Less than the minute of a plan. */
const readsEach = 100
/** Of others' reads, one after the other. Where all asked the store at once, the victim's write waited for more than a hundred. */
const mostReadsWaitedFor = 70
const victimWrites = 12
const rows = 700

test('thousands who read what ever changed, at once, keep nobody else from writing, nor from the dashboard', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  const { instances, workshop, connectFile, createKey } = await startCluster(t, {
    ...{ instances: 1, fsync: true },
    // All come from one address here.
    env: { ROWPORT_SHARES: '{"connections_per_address": 5000}' },
  })
  const [instance] = instances
  assert.ok(instance)
  const { port } = instance
  const client = () => {
    const made = createLoadClient()
    t.after(() => made.close())
    return made
  }
  await connectFile('own', 'name\nfirst\n')
  const victimKey = await createKey()
  const csv = `name,note\n${Array.from({ length: rows }, (_, n) => `row ${n},${'x'.repeat(600)}\n`).join('')}`
  const others: { port: number; path: string; apiKey: string }[] = []
  for (let n = 0; n < accounts; n++) {
    const slug = `other-${n}`
    done(await workshop.accounts.create(slug, 'enterprise'))
    await connectFile('sheet', csv, slug)
    const other = { port, path: `/api/sheets/${slug}/sheet`, apiKey: await createKey(slug) }
    const all = { ...other, path: `${other.path}?all=true&max_rows=1000`, method: 'PATCH' }
    for (const name of ['once', 'twice', 'thrice', 'again']) {
      const { status } = await client().ask({ ...all, body: JSON.stringify({ name }) })
      assert.equal(status, 200)
    }
    others.push({ ...other, path: `${other.path}/changes?since=earliest&limit=1000&row=99999` })
  }

  const floodedMs = performance.now()
  const flood = others.flatMap((other) => Array.from({ length: readsEach }, () => client().ask(other)))
  const victim = client()
  const waitedMs: number[] = []
  for (let nth = 0; nth < victimWrites; nth++) {
    const asked = { port, path: '/api/sheets/acme/own', apiKey: victimKey }
    const { status, begunMs, endedMs } = await victim.ask({
      ...asked,
      body: JSON.stringify({ name: `${nth}` }),
    })
    assert.equal(status, 201)
    waitedMs.push(endedMs - begunMs)
    // As a verb of the dashboard asks the store.
    assert.equal(done(await workshop.sheets.list('acme')).length, 1)
  }
  const statuses = new Map<number | null, number>()
  for (const { status } of await Promise.all(flood)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const readMs = (performance.now() - floodedMs) / flood.length
  const medianMs = waitedMs.toSorted((one, another) => one - another)[victimWrites / 2] ?? 0
  const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  t.diagnostic(
    `the victim waited ${waitedMs.map((ms) => ms.toFixed(0)).join(' ')} ms; others got ${told}, ${readMs.toFixed(1)} ms each`,
  )
  assert.deepEqual([...statuses.keys()], [200], told)
  assert.ok(
    medianMs <= mostReadsWaitedFor * readMs,
    `${medianMs.toFixed(0)} ms, and ${readMs.toFixed(1)} ms a read`,
  )
})
