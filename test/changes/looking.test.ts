import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, done, startRowport } from '../harness.ts'
import { EventStream } from './event-stream-client.ts'
import { createClient } from './following-client.ts'

const csv = 'sku,name,price\nA-1,Lamp,59\nB-2,Table,420\n'

test('while somebody follows, a file is watched: an edit comes though nobody reads', async (t) => {
  const { rowport, open, path } = await start(t)
  const other = await startRowport(t, { beside: rowport })
  const streams = [await open(), await open(other.url)]
  await edit(path, csv.replace('420', '421'))
  for (const stream of streams) {
    await stream.untilCount(1)
    assert.deepEqual(
      stream.changes.map(({ source, after }) => [source, after.price]),
      [['outside', 421]],
    )
  }
})

test('refresh looks now, whatever the cache says, and tells where the log stands', async (t) => {
  const { rowport, key, client, path, formA, formB } = await start(t)
  const { cursor } = await client.list(rowport.url)
  await edit(path, csv.replace('420', '421'))
  assert.deepEqual((await client.changes(rowport.url, cursor)).changes, [], 'what is cached is good enough')
  const refresh = (address: string, headers: Record<string, string> = bearer(key)) =>
    fetch(`${rowport.url}${address}/refresh`, { method: 'POST', headers })
  const looked = await refresh(formA)
  assert.equal(looked.status, 200)
  const next = looked.headers.get('X-Change-Cursor')
  assert.deepEqual(await looked.json(), {
    success: true,
    message: 'The spreadsheet was looked at.',
    looked: true,
    cursor: next,
  })
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ source, cursor }) => [source, cursor]),
    [['outside', next]],
  )
  const nested = await refresh(formB)
  assert.deepEqual(await nested.json(), { data: { looked: true }, meta: { cursor: next } })

  const reading = await rowport.createKey({ scope: 'read' })
  assert.equal((await refresh(formA, bearer(reading))).status, 200, 'no-cache lets it look as well')
  assert.equal((await refresh(formA, {})).status, 401)
  const wrongMethod = await rowport.get(`${formA}/refresh`, bearer(key))
  assert.deepEqual([wrongMethod.status, wrongMethod.headers.get('Allow')], [405, 'POST, OPTIONS'])
  done(await rowport.workshop.sheets.setPaused('acme', 'stock', true))
  assert.equal((await refresh(formA)).status, 503)
})

test('a public sheet is refreshed with a key only', async (t) => {
  const { rowport, formA } = await start(t)
  done(await rowport.workshop.sheets.change('acme', 'stock', { access: 'public-read' }))
  assert.equal((await rowport.get(formA)).status, 200)
  const refused = await fetch(`${rowport.url}${formA}/refresh`, { method: 'POST' })
  assert.deepEqual([refused.status, JSON.parse(await refused.text()).code], [401, 'api_key_required'])
})

test('many who ask for a look at once share it', async (t) => {
  const { rowport, key, client, formA } = await start(t)
  await client.list(rowport.url)
  const fetches = () => rowport.seen.filter(({ event }) => event === 'sheet_fetched').length
  const before = fetches()
  const asked = Array.from({ length: 40 }, () =>
    fetch(`${rowport.url}${formA}/refresh`, { method: 'POST', headers: bearer(key) }),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)], [200])
  assert.ok(fetches() - before <= 3, `${fetches() - before} looks`)
})

test('watch_seconds is 0 or from 5 to 3,600', async (t) => {
  const { rowport } = await start(t)
  const set = async (watchSeconds: number) => {
    const outcome = await rowport.workshop.sheets.change('acme', 'stock', { watchSeconds })
    return 'watchSeconds' in outcome ? outcome.watchSeconds : outcome.message
  }
  assert.deepEqual([await set(5), await set(3_600), await set(0)], [5, 3_600, 0])
  for (const wrong of [1, 4, 3_601]) assert.match(String(await set(wrong)), /every 5 to 3600 seconds/)
})

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const { formA, formB, id, path } = await rowport.connectFile('stock', 'stock.csv', csv)
  const open = async (url = rowport.url) => {
    const stream = await EventStream.open(`${url}${formA}/changes`, bearer(key))
    t.after(() => stream.close())
    return stream
  }
  return { rowport, client: createClient(key, formB), key, formA, formB, id, path, open }
}

/** Left alone for a while since. */
async function edit(path: string, content: string): Promise<void> {
  await writeFile(path, content)
  const at = new Date(Date.now() - 30 * 60 * 1_000)
  await utimes(path, at, at)
}
