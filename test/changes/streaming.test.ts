import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { bearer, configOf, done, startRowport } from '../harness.ts'
import { EventStream } from './event-stream-client.ts'
import { createClient } from './following-client.ts'

const csv = 'sku,name,price\nA-1,Lamp,59\nB-2,Table,420\n'

test('each change is an event whose id is its cursor, as it is in the list', async (t) => {
  const { rowport, client, open } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const stream = await open()
  assert.equal(stream.response.statusCode, 200)
  const { headers } = stream.response
  assert.match(headers['content-type'] ?? '', /^text\/event-stream/)
  assert.match(headers['cache-control'] ?? '', /no-store.*no-transform/)
  assert.equal(headers['x-accel-buffering'], 'no')
  assert.equal(headers['x-change-cursor'], cursor)
  assert.equal(headers['content-encoding'], undefined)
  await client.write(rowport.url, 'POST', '', { sku: 'C-3', name: 'Stool\r\nred' })
  await client.write(rowport.url, 'PATCH', '/4', { price: 5 })
  await stream.untilCount(2)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(stream.changes, changes)
  assert.deepEqual(
    stream.events.map(({ id }) => id),
    changes.map((change) => change.cursor),
  )
  assert.ok(stream.retryMs !== null && stream.retryMs >= 1_000 && stream.retryMs <= 5_000)
})

test('it goes on after Last-Event-ID, which comes before since, and from the earliest', async (t) => {
  const { rowport, client, open } = await start(t)
  const { cursor } = await client.list(rowport.url)
  for (const price of [1, 2, 3]) await client.write(rowport.url, 'PATCH', '/2', { price })
  const { changes } = await client.changes(rowport.url, cursor)
  const prices = async (query: string, headers: Record<string, string> = {}, count = 1) => {
    const stream = await open(query, headers)
    await stream.untilCount(count)
    return stream.changes.map(({ after }) => after.price)
  }
  assert.deepEqual(await prices('?since=earliest', {}, 3), [1, 2, 3])
  assert.deepEqual(await prices(`?since=${cursor}`, {}, 3), [1, 2, 3])
  assert.deepEqual(await prices(`?since=${cursor}`, { 'Last-Event-ID': changes[1]?.cursor ?? '' }), [3])
  const again = await open()
  assert.equal(again.lastEventId || again.response.headers['x-change-cursor'], changes[2]?.cursor)
})

test('filters choose events, and what they leave out is not told again after a break', async (t) => {
  const { rowport, client, open } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const stream = await open(`?since=${cursor}&kind=deleted`)
  await client.write(rowport.url, 'PATCH', '/2', { price: 1 })
  await stream.until(({ lastEventId }) => lastEventId !== cursor && lastEventId !== '')
  assert.deepEqual(stream.events, [])
  await client.write(rowport.url, 'DELETE', '/2')
  await stream.untilCount(1)
  assert.equal(stream.changes[0].kind, 'deleted')
})

test('what is refused is refused as JSON before the stream begins', async (t) => {
  const { rowport, key, open } = await start(t)
  const statusOf = async (query: string, headers?: Record<string, string>) => {
    const stream = await open(query, headers)
    await stream.untilEnd()
    return [stream.response.statusCode, JSON.parse(stream.text).code]
  }
  assert.deepEqual(await statusOf('?since=AAAAAAAA-0'), [410, 'cursor_expired'])
  assert.deepEqual(await statusOf('', { 'Last-Event-ID': 'AAAAAAAA-0' }), [410, 'cursor_expired'])
  assert.deepEqual(await statusOf('?since=x'), [400, 'invalid_query'])
  assert.deepEqual(await statusOf('?wait=5'), [400, 'invalid_query'])
  assert.deepEqual(await statusOf('', { Authorization: '' }), [401, 'api_key_required'])
  done(await rowport.workshop.sheets.setPaused('acme', 'stock', true))
  assert.deepEqual(await statusOf(''), [503, 'sheet_paused'])
  assert.equal((await rowport.get('/api/sheets/acme/stock/changes', bearer(key))).status, 503)
})

for (const [what, end, code] of [
  ['a revoked key', ({ rowport, key }: Started) => rowport.workshop.keys.revoke(key.id), 'invalid_api_key'],
  [
    'a paused sheet',
    ({ rowport }: Started) => rowport.workshop.sheets.setPaused('acme', 'stock', true),
    'sheet_paused',
  ],
  [
    'a deleted sheet',
    ({ rowport, id }: Started) => rowport.workshop.store.deleteSheet(id),
    'sheet_not_found',
  ],
  [
    'a sheet without history',
    ({ rowport, id }: Started) => rowport.workshop.store.changeSheet(id, { historyDays: 0 }),
    'not_found',
  ],
] as const) {
  test(`${what} ends a stream, at another instance too, by an event that says why`, async (t) => {
    const started = await start(t)
    const other = await startRowport(t, { beside: started.rowport })
    const streams = [await started.open(), await started.open('', {}, other.url)]
    await end(started)
    for (const stream of streams) {
      await stream.untilEnd()
      assert.deepEqual(
        stream.events.map(({ event, data }) => [event, JSON.parse(data).code]),
        [['end', code]],
      )
    }
  })
}

test('nothing that comes after a key was revoked reaches its stream', async (t) => {
  const { rowport, key, open, id } = await start(t)
  const stream = await open()
  const other = createClient(await rowport.createKey(), `/v1/sheets/${id}`)
  await rowport.workshop.keys.revoke(key.id)
  await other.write(rowport.url, 'PATCH', '/2', { price: 7 })
  await stream.untilEnd()
  assert.deepEqual(stream.changes, [])
})

test('a poll that waits is judged again before it is answered', async (t) => {
  const { rowport, key, client, id } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const waiting = rowport.get(`/v1/sheets/${id}/changes?since=${cursor}&wait=60`, bearer(key))
  await new Promise((resolve) => setTimeout(resolve, 200))
  const other = createClient(await rowport.createKey(), `/v1/sheets/${id}`)
  await rowport.workshop.keys.revoke(key.id)
  await other.write(rowport.url, 'PATCH', '/2', { price: 7 })
  assert.equal((await waiting).status, 403)
})

test('a log that is begun anew ends a stream, and a poll that waits, with cursor_expired', async (t) => {
  const { rowport, client, key, open, id } = await start(t)
  const { cursor } = await client.list(rowport.url)
  await client.write(rowport.url, 'PATCH', '/2', { price: 1 })
  const place = (await client.changes(rowport.url, cursor)).cursor
  const stream = await open(`?since=${place}`)
  const waiting = rowport.get(`/v1/sheets/${id}/changes?since=${place}&wait=60`, bearer(key))
  await new Promise((resolve) => setTimeout(resolve, 700))
  await rowport.workshop.store.changeSheet(id, { historyDays: 0 })
  await rowport.workshop.store.changeSheet(id, { historyDays: 7 })
  await client.list(rowport.url)
  await stream.untilEnd()
  assert.equal(JSON.parse(stream.events.at(-1)?.data ?? '').code, 'cursor_expired')
  const answer = await waiting
  assert.equal(answer.status, 410)
})

test('one account, and all together, have so many streams and waiting polls at once', async (t) => {
  const settings = configOf('', {})
  const shares = { ...settings.shares, following_at_once: 2, following_total: 3 }
  const { rowport, open } = await start(t, { shares })
  const one = await open()
  await open()
  const third = await open()
  await third.untilEnd()
  assert.equal(third.response.statusCode, 429)
  assert.equal(third.response.headers['retry-after'], '5')
  assert.match(third.text, /too_many_at_once.*following_at_once/)
  one.close()
  await eventually(async () => (await open()).response.statusCode === 200)

  done(await rowport.workshop.accounts.create('other', 'enterprise'))
  const sheet = await rowport.connectFile('stock', 'other.csv', csv, { account: 'other' })
  const key = await rowport.createKey({ account: 'other' })
  const others = [1, 2].map(() => EventStream.open(`${rowport.url}${sheet.formA}/changes`, bearer(key)))
  const [first, second] = await Promise.all(others)
  t.after(() => first?.close())
  assert.deepEqual(
    [first, second].map((stream) => stream?.response.statusCode).sort(),
    [200, 429],
    'the third place, and no fourth',
  )
  assert.equal(defaultShares.following_total, 5_000)
})

test('a stream costs a request when it begins', async (t) => {
  const { rowport, key, open, formA } = await start(t)
  done(await rowport.workshop.accounts.setPlan('acme', 'pro', { requestsPerMinute: 3, requestsPerMonth: 10 }))
  const stream = await open()
  assert.equal(stream.response.headers['x-ratelimit-remaining'], '2')
  assert.equal(stream.response.headers['x-quota-remaining'], '9')
  await rowport.get(formA, bearer(key))
  await rowport.get(formA, bearer(key))
  const refused = await open()
  await refused.untilEnd()
  assert.deepEqual([refused.response.statusCode, JSON.parse(refused.text).code], [429, 'rate_limited'])
})

test('a stream ends cleanly when its instance stops, and goes on at another one without a gap', async (t) => {
  const { rowport, client, open } = await start(t)
  const other = await startRowport(t, { beside: rowport })
  const { cursor } = await client.list(rowport.url)
  const stream = await open('', {}, other.url)
  await client.write(rowport.url, 'PATCH', '/2', { price: 1 })
  await stream.untilCount(1)
  await other.stopServer()
  await stream.untilEnd()
  assert.ok(stream.response.complete, 'it was ended, not cut')
  await client.write(rowport.url, 'PATCH', '/2', { price: 2 })
  const next = await open('', { 'Last-Event-ID': stream.lastEventId })
  await client.write(rowport.url, 'PATCH', '/2', { price: 3 })
  await next.untilCount(2)
  const all = (await client.changes(rowport.url, cursor)).changes
  assert.deepEqual([...stream.changes, ...next.changes], all)
})

test('one read of the log serves all streams of a sheet', async (t) => {
  const { rowport, client, open } = await start(t)
  await client.list(rowport.url)
  const streams = await Promise.all(Array.from({ length: 50 }, () => open()))
  const { store } = rowport.workshop
  const { loggedChanges } = store
  let reads = 0
  store.loggedChanges = (...asked) => {
    reads++
    return loggedChanges(...asked)
  }
  const [first] = streams
  await first?.until(({ lastEventId }) => lastEventId !== '')
  await client.write(rowport.url, 'PATCH', '/2', { price: 1 })
  for (const stream of streams) await stream.untilCount(1)
  assert.ok(reads <= 3, `${reads} reads`)
})

test('a client that does not read is dropped, and others are not', async (t) => {
  const { shares } = configOf('')
  const settings = { shares: { ...shares, following_at_once: 2 } }
  const rowport = await startRowport(t, { settings, timeLimits: { idleSocketMs: 4_000 } })
  const key = await rowport.createKey()
  const { formA, formB } = await rowport.connectFile('stock', 'stock.csv', 'sku,name\nA-1,Lamp\n')
  const client = createClient(key, formB)
  await client.list(rowport.url)
  const url = `${rowport.url}${formA}/changes`
  const [reader, idler] = await Promise.all([1, 2].map(() => EventStream.open(url, bearer(key))))
  assert.ok(reader && idler)
  t.after(() => reader.close())
  idler.response.pause()
  const many = Array.from({ length: 20 }, () => ({ sku: 'S' }))
  assert.equal((await client.write(rowport.url, 'POST', '', many)).status, 201)
  for (const letter of 'abcdefgh') {
    const body = { name: letter.repeat(49_000) }
    assert.equal((await client.write(rowport.url, 'PATCH', '?sku=S', body)).status, 200)
  }
  const isDropped = async () => {
    const third = await EventStream.open(url, bearer(key))
    third.close()
    return third.response.statusCode === 200
  }
  await eventually(isDropped)
  assert.equal(reader.isEnded, false)
  await reader.untilCount(9 * 20, 30_000)
  idler.response.resume()
  await idler.untilEnd()
  assert.equal(idler.response.complete, false, 'it was cut')
  assert.ok(idler.changes.length < 9 * 20)
})

test('who asks with HEAD, or for JSON rather than for events, gets an answer that ends', async (t) => {
  const { rowport, key, formA } = await start(t)
  const url = `${rowport.url}${formA}/changes`
  const headers = { ...bearer(key), Accept: 'text/event-stream' }
  const head = await fetch(url, { method: 'HEAD', headers })
  assert.equal(head.status, 200)
  const json = await fetch(url, {
    headers: { ...headers, Accept: 'application/json, text/event-stream;q=0.5' },
  })
  assert.deepEqual(await json.json(), [])
})

type Started = Awaited<ReturnType<typeof start>>

async function start(t: TestContext, settings: Parameters<typeof configOf>[1] = {}) {
  const rowport = await startRowport(t, { settings })
  const key = await rowport.createKey()
  const { formA, formB, id } = await rowport.connectFile('stock', 'stock.csv', csv)
  const open = async (query = '', headers: Record<string, string> = {}, url = rowport.url) => {
    const stream = await EventStream.open(`${url}${formA}/changes${query}`, { ...bearer(key), ...headers })
    t.after(() => stream.close())
    return stream
  }
  return { rowport, client: createClient(key, formB), key, formA, id, open }
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail('It did not become so')
}
