import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { bearer, done, type Rowport, startMs, startRowport } from '../harness.ts'

/** Readers of a `public-read` sheet who bring no key. */

const ofReaders = 'public, max-age=10'
const ofCallers = 'private, no-cache'

test('strangers use up the minute of a public sheet, and nothing of the owner’s', async (t) => {
  const { rowport, sheet, other, key, read } = await start(t, { requestsPerMinute: 30, perAddress: 1_000 })
  const strangers = await statuses(100, () => read(sheet.formA, '192.0.2.1'))
  const owner = await statuses(30, () => read(sheet.formB, '192.0.2.1', bearer(key)))
  process.stdout.write(
    `100 keyless reads, 30 a minute: ${told(strangers)}; then 30 keyed ones: ${told(owner)}\n`,
  )
  assert.deepEqual(strangers, { 200: 30, 429: 70 })
  assert.deepEqual(owner, { 200: 30 })
  assert.equal((await read(sheet.formA, '192.0.2.1', bearer(key))).status, 429, 'of its own making')
  assert.equal((await read(other.formA, '192.0.2.9')).status, 200, 'each sheet has its own')
  const refused = await read(sheet.formA, '192.0.2.9')
  assert.equal(refused.headers.get('retry-after'), '60')
  rowport.clock.advanceMs(60_000)
  assert.equal((await read(sheet.formA, '192.0.2.9')).status, 200)
})

test('one address has so many reads a minute without a key, of all sheets, and leaves the rest to others', async (t) => {
  const { sheet, other, key, read, seen } = await start(t, { requestsPerMinute: null, perAddress: 5 })
  for (const status of [200, 200, 200]) assert.equal((await read(sheet.formA, '2001:db8::1')).status, status)
  for (const status of [200, 200, 429]) assert.equal((await read(other.formB, '2001:db8::2')).status, status)
  assert.equal((await read(sheet.formA, '2001:db8:0:1::1')).status, 200, 'the next /64 is another reader')
  assert.equal(
    (await read(sheet.formA, '2001:db8::1', bearer(key))).status,
    200,
    'a key is counted by itself',
  )
  assert.ok(
    seen().some((each) => each.event === 'share_used_up' && each.share === 'public_requests_per_minute'),
  )
})

test('an address that is over its own takes nothing from the minute of the sheet', async (t) => {
  const { sheet, read } = await start(t, { requestsPerMinute: 10, perAddress: 5 })
  await statuses(50, () => read(sheet.formA, '192.0.2.1'))
  assert.deepEqual(await statuses(6, () => read(sheet.formA, '192.0.2.2')), { 200: 5, 429: 1 })
})

test('the headers tell what a reader without a key has left: of the minute that ends first, and of its own month', async (t) => {
  const { rowport, sheet, read } = await start(t, {
    requestsPerMinute: 6,
    requestsPerMonth: 100,
    perAddress: 4,
  })
  const limits = ({ headers }: Response) =>
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-quota-limit', 'x-quota-remaining'].map((name) =>
      headers.get(name),
    )
  assert.deepEqual(limits(await read(sheet.formA, '192.0.2.1')), ['4', '3', '100', '99'])
  rowport.clock.advanceMs(1_000)
  await statuses(3, () => read(sheet.formA, '192.0.2.1'))
  const third = await read(sheet.formA, '192.0.2.2')
  assert.deepEqual(limits(third), ['6', '1', '100', '95'], 'the sheet’s, which has less left')
  assert.equal(third.headers.get('x-ratelimit-reset'), String(startMs / 1_000 + 60))
  done(await rowport.workshop.sheets.setPaused('acme', 's', true))
  const paused = await read(sheet.formA, '192.0.2.1')
  assert.equal(paused.status, 503)
  assert.deepEqual(limits(paused), ['4', '0', null, null], 'told, and not touched')
})

test('readers without a key have a month of their own, and so have keys', async (t) => {
  const { rowport, sheet, key, read } = await start(t, {
    requestsPerMinute: null,
    requestsPerMonth: 20,
    perAddress: 1_000,
  })
  const etag = (await read(sheet.formA, '192.0.2.1')).headers.get('etag') ?? ''
  assert.equal((await read(sheet.formA, '192.0.2.1', { 'If-None-Match': etag })).status, 304)
  assert.deepEqual(await statuses(30, () => read(sheet.formA, '192.0.2.1')), { 200: 19, 429: 11 })
  const over = await read(sheet.formB, '192.0.2.1')
  assert.match(await over.text(), /"usage_limit_exceeded"/)
  assert.equal(over.headers.get('x-quota-remaining'), '0')
  assert.deepEqual(await statuses(25, () => read(sheet.formA, '192.0.2.1', bearer(key))), { 200: 20, 429: 5 })
  rowport.clock.advanceMs(Date.UTC(2026, 11, 15) - startMs)
  assert.equal((await read(sheet.formA, '192.0.2.1')).status, 200, 'a new month')
})

test('what a reader without a key gets may be kept by others for cache_seconds, and by nobody who sends a key', async (t) => {
  const { rowport, sheet, key, read } = await start(t, { requestsPerMinute: null, perAddress: 1_000 })
  const kept = ({ headers }: Response) => [headers.get('cache-control'), headers.get('vary')]
  const [everyone, caller] = [
    [ofReaders, 'Accept, Accept-Encoding, Authorization, X-API-Key'],
    [ofCallers, 'Accept, Accept-Encoding'],
  ]
  for (const what of ['', '/2', '?format=csv', '?row=2&format=ndjson', '/schema', '/openapi.json'])
    for (const form of [sheet.formA, sheet.formB]) {
      const answer = await read(form + what, '192.0.2.1')
      assert.equal(answer.status, 200, what)
      assert.deepEqual(kept(answer), everyone, what)
      assert.notEqual(answer.headers.get('age'), null, 'how much of that time is over')
      const held = { 'If-None-Match': answer.headers.get('etag') ?? '' }
      const unchanged = await read(form + what, '192.0.2.1', held)
      assert.equal(unchanged.status, 304, what)
      assert.deepEqual(kept(unchanged), everyone, what)
      const head = await fetch(rowport.url + form + what, { method: 'HEAD' })
      assert.deepEqual(kept(head), everyone, what)
      assert.deepEqual(kept(await read(form + what, '192.0.2.1', bearer(key))), caller, what)
      assert.deepEqual(kept(await read(form + what, '192.0.2.1', { ...bearer(key), ...held })), caller, what)
    }
  const inQuery = await read(`${sheet.formA}?api_key=${key.value}`, '192.0.2.1')
  assert.deepEqual(kept(inQuery), caller)
  for (const wrong of ['/99', '?limit=x', '?nothing=1'])
    assert.equal((await read(sheet.formA + wrong, '192.0.2.1')).headers.get('cache-control'), 'no-store')
  done(await rowport.workshop.sheets.change('acme', 's', { cacheSeconds: 3_600 }))
  assert.equal(kept(await read(sheet.formA, '192.0.2.1'))[0], 'public, max-age=3600')
  rowport.clock.advanceMs(90_000)
  assert.equal((await read(sheet.formA, '192.0.2.1')).headers.get('age'), '90')
  done(await rowport.workshop.sheets.change('acme', 's', { cacheSeconds: 0 }))
  assert.equal(kept(await read(sheet.formA, '192.0.2.1'))[0], 'public, max-age=0')
  done(await rowport.workshop.sheets.change('acme', 's', { access: 'private' }))
  assert.equal((await read(sheet.formA, '192.0.2.1')).headers.get('cache-control'), 'no-store')
})

interface Limits {
  requestsPerMinute: number | null
  requestsPerMonth?: number
  perAddress: number
}

async function start(t: TestContext, { requestsPerMinute, requestsPerMonth, perAddress }: Limits) {
  const rowport = await startRowport(t, {
    settings: {
      trustedProxies: ['127.0.0.1'],
      shares: { ...defaultShares, public_requests_per_minute: perAddress },
    },
  })
  const own = { requestsPerMinute, requestsPerMonth: requestsPerMonth ?? null }
  done(await rowport.workshop.accounts.setPlan('acme', 'enterprise', own))
  const connect = (slug: string): ReturnType<Rowport['connectFile']> =>
    rowport.connectFile(slug, `${slug}.csv`, 'name,price\nOak,1\nAsh,2\n', { access: 'public-read' })
  const [sheet, other] = [await connect('s'), await connect('other')]
  const key = await rowport.createKey()
  return {
    rowport,
    sheet,
    other,
    key,
    seen: () => rowport.seen,
    read: (path: string, from: string, headers: Record<string, string> = {}) =>
      rowport.get(path, { 'X-Forwarded-For': from, ...headers }),
  }
}

async function statuses(times: number, ask: () => Promise<Response>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let n = 0; n < times; n++) {
    const { status } = await ask()
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

function told(counts: Record<number, number>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}
