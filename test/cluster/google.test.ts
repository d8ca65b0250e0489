import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { type LocalGoogle, startLocalGoogle } from '../emulator/harness.ts'
import { done } from '../harness.ts'
import { connectOwner, googleAt, owner } from '../writing/google-ground.ts'
import { type Cluster, skipCluster, startCluster } from './cluster.ts'

const scope = 'https://www.googleapis.com/auth/spreadsheets'

interface Call {
  name: string
  kind: string
  service: string
  path: string
  status: number
}

test('R12: a thousand who ask at once for a cold sheet, on two instances, cost one read at the provider', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, connectSheet, key } = await startWithGoogle(t)
  await connectSheet('cold')
  // One look at the tab, so that both instances have a token: this is about the reads of rows.
  await connectSheet('warm')
  for (const instance of [0, 1])
    await (await cluster.ask(instance, '/api/sheets/acme/warm', { key })).arrayBuffer()
  await local.control('POST', 'settings', { latencyMs: 100 })
  const before = await callsOf(local)
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, n) => {
      const answer = await cluster.ask(n % 2, '/api/sheets/acme/cold', { key })
      return { status: answer.status, text: await answer.text() }
    }),
  )
  const reads = (await callsOf(local)).slice(before.length).filter(({ kind }) => kind === 'read')
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  const fetched = cluster.instances.map(
    ({ seen }) => seen.filter((each) => each.event === 'sheet_fetched').length,
  )
  process.stdout.write(
    `R12: 1000 cold reads at once on 2 instances: ${reads.length} calls at Google for one read of the tab; ` +
      `sheets fetched by each instance, the warm one among them: ${fetched.join(' + ')}\n`,
  )
  // Each tab was read once, by one of the two.
  assert.equal(reads.length, 1)
  assert.equal(
    fetched.reduce((sum, each) => sum + each, 0),
    2,
  )
})

test('of two instances on which a sheet is in use, one reads it again ahead of its end, for both', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, connectSheet, key } = await startWithGoogle(t)
  await connectSheet('in-use')
  done(await cluster.workshop.sheets.change('acme', 'in-use', { cacheSeconds: 5 }))
  const path = '/api/sheets/acme/in-use'
  await local.control('POST', 'settings', { latencyMs: 100 })
  for (const instance of [0, 1]) await (await cluster.ask(instance, path, { key })).arrayBuffer()
  const before = readsOf(await callsOf(local))
  const statuses = new Map<string, number>()
  const endMs = performance.now() + 11_000
  const ask = async (instance: number) => {
    while (performance.now() < endMs) {
      const answer = await cluster.ask(instance, path, { key })
      await answer.arrayBuffer()
      const status = answer.headers.get('cache-status') ?? ''
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      assert.ok(Number(answer.headers.get('age')) <= 5)
      await sleep(25)
    }
  }
  await Promise.all([ask(0), ask(1)])
  const reads = readsOf(await callsOf(local)) - before
  process.stdout.write(
    `ahead: 11 s of reading on 2 instances, cache_seconds 5: ${reads} reads at Google, ${JSON.stringify(Object.fromEntries(statuses))}\n`,
  )
  // One by itself would make three in this time, or two where it began late.
  assert.ok(reads >= 2 && reads <= 3, `${reads} reads`)
})

test('reads at the provider do not grow with the number of instances, and a write is seen all the same', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, connectSheet, key } = await startWithGoogle(t, 3)
  await connectSheet('shared')
  const path = '/api/sheets/acme/shared'
  const rowsAt = async (instance: number) =>
    (await (await cluster.ask(instance, path, { key })).json()) as { name: string; n: number }[]
  const before = readsOf(await callsOf(local))
  for (const instance of [0, 1, 2]) assert.equal((await rowsAt(instance)).length, 1)
  assert.ok(readsOf(await callsOf(local)) - before <= 1)
  for (let round = 0; round < 6; round++) {
    const body = { name: `row ${round}`, n: round }
    const added = await cluster.ask(round % 3, path, { key, method: 'POST', body })
    assert.equal(added.status, 201, await added.clone().text())
    await added.arrayBuffer()
    for (const instance of [1, 2, 0]) {
      const rows = await rowsAt((round + instance) % 3)
      assert.deepEqual(rows.at(-1), body)
    }
  }
})

test('no update is lost between instances: each is held against the row as the one before it left it', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, connectSheet, key } = await startWithGoogle(t)
  await connectSheet('counter')
  // Google has no conditional write: only the lane keeps two instances from overtaking each other.
  await local.control('POST', 'settings', { latencyMs: 15 })
  const path = '/api/sheets/acme/counter/2'
  let updated = 0
  let overtaken = 0
  await Promise.all(
    Array.from({ length: 6 }, async (_, client) => {
      for (let n = 0; n < 6; ) {
        const read = await cluster.ask(client % 2, path, { key })
        const row = (await read.json()) as { n: number }
        const headers = { 'If-Match': read.headers.get('etag') ?? '' }
        const wish = { key, method: 'PUT', body: { n: row.n + 1 }, headers }
        const written = await cluster.ask((client + n) % 2, path, wish)
        await written.arrayBuffer()
        assert.ok(written.status === 200 || written.status === 412, String(written.status))
        if (written.status === 200) n++
        if (written.status === 200) updated++
        else overtaken++
      }
    }),
  )
  const { n } = (await (await cluster.ask(0, path, { key })).json()) as { n: number }
  process.stdout.write(
    `lane: ${updated} increments on 2 instances, ${overtaken} overtaken, the sum is ${n - 1}\n`,
  )
  assert.equal(n, 1 + updated)
})

test('R21: access tokens expire under load on two instances; each time one refresh serves both', {
  skip: skipCluster,
}, async (t) => {
  const { cluster, local, connectSheet, key } = await startWithGoogle(t)
  await connectSheet('busy')
  const path = '/api/sheets/acme/busy'
  const rounds = 20
  const statuses = new Map<number, number>()
  const perRound: number[] = []
  for (let round = 0; round < rounds; round++) {
    if (round > 0) await local.control('POST', `grants/${owner}/expire`)
    const before = refreshesOf(await callsOf(local))
    // Each insists on an answer from now, so each instance needs its token at once.
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const headers = { 'Cache-Control': 'no-cache' }
        const answer = await cluster.ask(n % 2, path, { key, headers })
        await answer.arrayBuffer()
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      }),
    )
    perRound.push(refreshesOf(await callsOf(local)) - before)
    await sleep(20)
  }
  process.stdout.write(
    `R21: ${rounds} expiries on 2 instances: refreshes in each ${[...new Set(perRound)].join(', ')}; ` +
      `answers ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}\n`,
  )
  assert.deepEqual([...new Set(perRound)], [1])
  assert.deepEqual([...statuses.keys()], [200])
})

async function startWithGoogle(t: TestContext, instances = 2) {
  const local = await startLocalGoogle(t)
  // Its own kind of setting has no rations: everyone has the same, but for a test without time to wait.
  const plenty = { perUser: { read: 10_000, write: 10_000 }, perProject: { read: 10_000, write: 10_000 } }
  const google = { ...googleAt(local.url), rations: plenty }
  const cluster: Cluster = await startCluster(t, { instances, google })
  const { workshop } = cluster
  const { refresh_token, access_token } = await local.tokens(owner, [scope])
  const account = done(await workshop.accounts.find('acme'))
  const credentialId = await connectOwner(workshop.store, workshop.sealing, account.id, refresh_token)
  const key = await cluster.createKey()

  async function connectSheet(slug: string): Promise<void> {
    const tabs = [
      {
        title: 'Items',
        values: [
          ['name', 'n'],
          ['first', 1],
        ],
      },
    ]
    const made = await local.control('POST', 'spreadsheets', { title: slug, owner, tabs })
    const spreadsheetId = String(made.spreadsheetId)
    const found = await local.api(
      access_token,
      'GET',
      `/v4/spreadsheets/${spreadsheetId}?fields=sheets.properties`,
    )
    const { sheets } = (await found.json()) as { sheets: { properties: { sheetId?: number } }[] }
    const place = locateGoogleTab({ spreadsheetId, tabId: sheets[0]?.properties.sheetId ?? 0 })
    const asked = { accountSlug: 'acme', sheetSlug: slug, access: 'private', provider: 'google' } as const
    done(await workshop.sheets.connect({ ...asked, credentialId, ...place }))
    await workshop.store.changeSheet((await workshop.store.findSheet(account.id, slug))?.id ?? '', {
      cacheSeconds: 60,
    })
  }
  return { cluster, local, connectSheet, key }
}

async function callsOf(local: LocalGoogle): Promise<Call[]> {
  return (await local.control<{ calls: Call[] }>('GET', 'calls')).calls
}

function readsOf(calls: readonly Call[]): number {
  return calls.filter(({ kind, service }) => kind === 'read' && service === 'sheets').length
}

function refreshesOf(calls: readonly Call[]): number {
  return calls.filter(({ service, path }) => service === 'oauth' && path.endsWith('/token')).length
}
