import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { createClient } from './following-client.ts'

const csv = 'sku,name,price\nA-1,Lamp,59\nB-2,Table,420\n'

test('a write is in the log before it is answered, with its operation and its key', async (t) => {
  const { rowport, client, key } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const added = await client.write(rowport.url, 'POST', '', { sku: 'C-3', name: 'Stool' })
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ cursor: _, ...told }) => ({ ...told, at: '' })),
    [
      {
        at: '',
        kind: 'added',
        row: 4,
        key: null,
        before: null,
        after: { sku: 'C-3', name: 'Stool', price: null },
        identity: 'position',
        source: 'api',
        operation: added.headers.get('Operation-Id'),
        by: key.id,
      },
    ],
  )
  const changed = await client.write(rowport.url, 'PATCH', '/4', { price: 5 })
  const removed = await client.write(rowport.url, 'DELETE', '/by/sku/A-1')
  const later = (await client.changes(rowport.url, changes[0]?.cursor ?? '')).changes
  assert.deepEqual(
    later.map(({ kind, row, changed, operation }) => [kind, row, changed, operation]),
    [
      ['updated', 4, ['price'], changed.headers.get('Operation-Id')],
      ['deleted', 2, undefined, removed.headers.get('Operation-Id')],
    ],
  )
  assert.deepEqual(later[0]?.before, { sku: 'C-3', name: 'Stool', price: null })
})

test('a replay has the operation of the first answer, and a dry run none', async (t) => {
  const { rowport, client } = await start(t)
  const send = () => client.write(rowport.url, 'POST', '', { sku: 'C-3' }, { 'Idempotency-Key': 'k' })
  const [first, second] = [await send(), await send()]
  assert.match(first.headers.get('Operation-Id') ?? '', /^op_/)
  assert.equal(second.headers.get('Idempotent-Replayed'), 'true')
  assert.equal(second.headers.get('Operation-Id'), first.headers.get('Operation-Id'))
  const dry = await client.write(rowport.url, 'POST', '?dry_run=true', { sku: 'D-4' })
  assert.deepEqual([dry.status, dry.headers.get('Operation-Id')], [201, null])
})

test('a renamed column is one change, and so is one that is added, removed or moved', async (t) => {
  const { rowport, client, path } = await start(t)
  const { cursor } = await client.list(rowport.url)
  await edit(path, 'sku,title,price\nA-1,Lamp,59\nB-2,Table,420\n', 1)
  await client.list(rowport.url)
  await edit(path, 'sku,price,new,title\nA-1,59,,Lamp\nB-2,420,,Table\n', 2)
  await client.list(rowport.url)
  await edit(path, 'sku,price,title\nA-1,59,Lamp\nB-2,420,Table\n', 3)
  await client.list(rowport.url)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ kind, before, after, renamed }) => [kind, before, after, renamed]),
    [
      [
        'columns_changed',
        ['sku', 'name', 'price'],
        ['sku', 'title', 'price'],
        [{ from: 'name', to: 'title' }],
      ],
      ['columns_changed', ['sku', 'title', 'price'], ['sku', 'price', 'new', 'title'], undefined],
      ['columns_changed', ['sku', 'price', 'new', 'title'], ['sku', 'price', 'title'], undefined],
    ],
  )
})

test('another spreadsheet in the same place, or another key column, is a reset', async (t) => {
  const { rowport, client, path, id } = await start(t)
  const { cursor } = await client.list(rowport.url)
  await edit(path, 'city,country\nBerlin,DE\n', 1)
  await client.list(rowport.url)
  await rowport.workshop.store.changeSheet(id, { keyColumn: 'city' })
  await edit(path, 'city,country\nBerlin,DE\nRome,IT\n', 2)
  await client.list(rowport.url)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['reset', 'reset'],
  )
})

test('by key, rows that were sorted are no change', async (t) => {
  const { rowport, client, path, id } = await start(t)
  await rowport.workshop.store.changeSheet(id, { keyColumn: 'sku' })
  const { cursor } = await client.list(rowport.url)
  await edit(path, 'sku,name,price\nB-2,Table,419\nA-1,Lamp,59\n', 1)
  await client.list(rowport.url)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ kind, key, changed, identity }) => [kind, key, changed, identity]),
    [['updated', 'B-2', ['price'], undefined]],
  )
  const ofKey = await client.changes(rowport.url, cursor, '&key=A-1')
  assert.deepEqual([ofKey.changes, ofKey.cursor], [[], changes[0]?.cursor])
})

test('both forms tell the same, and filters, limit and cursors do what they say', async (t) => {
  const { rowport, client, key, formA, path } = await start(t)
  const headers = bearer(key)
  const { cursor } = await client.list(rowport.url)
  for (const price of [1, 2, 3]) await client.write(rowport.url, 'PATCH', '/2', { price })
  await edit(path, (await readFile(path, 'utf8')).replace('420', '421'), 1)
  await client.list(rowport.url)
  const all = (await client.changes(rowport.url, cursor)).changes
  assert.deepEqual(
    all.map(({ source }) => source),
    ['api', 'api', 'api', 'outside'],
  )
  const flat = await fetch(`${rowport.url}${formA}/changes?since=${cursor}&limit=2`, { headers })
  assert.deepEqual(await flat.json(), all.slice(0, 2))
  assert.equal(flat.headers.get('X-Change-Cursor'), all[1]?.cursor)
  assert.equal(flat.headers.get('X-More-Changes'), 'true')
  const ask = async (query: string) => {
    const response = await fetch(`${rowport.url}${formA}/changes?${query}`, { headers })
    // biome-ignore lint/suspicious/noExplicitAny: each question says what it expects.
    return { status: response.status, body: (await response.json()) as any }
  }
  assert.deepEqual((await ask(`since=${cursor}&source=outside`)).body, all.slice(3))
  assert.deepEqual((await ask('since=earliest&kind=updated,deleted')).body, all)
  assert.deepEqual((await ask(`since=${cursor}&row=3`)).body, all.slice(3))
  assert.deepEqual((await ask('')).body, [])
  for (const query of ['since=x', 'limit=0', 'wait=61', 'kind=moved', 'source=me', 'price=3']) {
    const { status, body } = await ask(query)
    assert.deepEqual([status, body.code], [400, 'invalid_query'], query)
  }
  const expired = await ask('since=AAAAAAAA-0')
  assert.deepEqual([expired.status, expired.body.code], [410, 'cursor_expired'])
  assert.equal((await fetch(`${rowport.url}${formA}/changes`)).status, 401)
})

test('a list from memory carries the cursor, and an unchanged one too', async (t) => {
  const { rowport, client, key, formA } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const read = await fetch(rowport.url + formA, { headers: bearer(key) })
  assert.equal(read.headers.get('X-Change-Cursor'), cursor)
  const etag = read.headers.get('ETag') ?? ''
  const same = await fetch(rowport.url + formA, { headers: { ...bearer(key), 'If-None-Match': etag } })
  assert.deepEqual([same.status, same.headers.get('X-Change-Cursor')], [304, cursor])
})

test('the first list of a large sheet does not wait for its rows to be stored; who follows it does', async (t) => {
  const rows = Array.from({ length: 2_000 }, (_, n) => `A-${n},A lamp with a longer name,${n}`)
  const { rowport, client, path } = await start(t, `sku,name,price\n${rows.join('\n')}\n`)
  const { store } = rowport.workshop
  const { logSeen } = store
  const mayStore = Promise.withResolvers<void>()
  store.logSeen = async (seen) => {
    await mayStore.promise
    return logSeen.call(store, seen)
  }
  const { cursor } = await client.list(rowport.url)
  let isTold = false
  const following = client.changes(rowport.url, cursor).finally(() => (isTold = true))
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(isTold, false, 'nobody knows yet whether the log begins there')
  mayStore.resolve()
  assert.deepEqual(await following, { changes: [], cursor })
  await edit(path, `sku,name,price\n${rows.slice(1).join('\n')}\n`, 1)
  await client.list(rowport.url)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ kind, row }) => [kind, row]),
    [['deleted', 2]],
  )
})

test('where the rows of a first list were never stored, its place is over', async (t) => {
  const rows = Array.from({ length: 2_000 }, (_, n) => `A-${n},A lamp with a longer name,${n}`)
  const { rowport, client, formA, key } = await start(t, `sku,name,price\n${rows.join('\n')}\n`)
  const { store } = rowport.workshop
  const { logSeen } = store
  store.logSeen = () => Promise.reject(new Error('the disk is full'))
  const { cursor } = await client.list(rowport.url)
  const ask = () => fetch(`${rowport.url}${formA}/changes?since=${cursor}`, { headers: bearer(key) })
  assert.equal((await ask()).status, 503, 'nobody knows yet where the log begins')
  store.logSeen = logSeen
  const { cursor: next } = await client.list(rowport.url)
  assert.notEqual(next, cursor)
  assert.equal((await ask()).status, 410)
  assert.deepEqual(await client.changes(rowport.url, next), { changes: [], cursor: next })
})

test('whoever waits hears of a write at once, and of nothing when the time is over', async (t) => {
  const { rowport, client } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const waiting = client.changes(rowport.url, cursor, '&wait=60')
  await new Promise((resolve) => setTimeout(resolve, 100))
  await client.write(rowport.url, 'POST', '', { sku: 'C-3' })
  const { changes, cursor: next } = await waiting
  assert.equal(changes.length, 1)
  assert.equal(next, changes[0]?.cursor)
  const over = await client.changes(rowport.url, next, '&wait=1')
  assert.deepEqual(over, { changes: [], cursor: next })
})

test('long changes are told in pages of a quarter of a megabyte, each once, whether people or a client made them', async (t) => {
  const { rowport, client, key, formA, path } = await start(t)
  const { cursor } = await client.list(rowport.url)
  const rows = 100
  const table = (letter: string) =>
    `sku,name,price\n${Array.from({ length: rows }, (_, n) => `S-${n},${letter.repeat(9_000)},${n}\n`).join('')}`
  await edit(path, table('a'), 1)
  await client.list(rowport.url)
  await edit(path, table('b'), 2)
  await client.list(rowport.url)
  const many = Array.from({ length: rows }, (_, n) => ({ sku: `T-${n}`, name: 'c'.repeat(9_000), price: n }))
  assert.equal((await client.write(rowport.url, 'POST', '', many)).status, 201)
  let [since, pages, longest, told] = [cursor, 0, 0, 0]
  const cursors = new Set<string>()
  for (let hasMore = true; hasMore; pages++) {
    const ask = () =>
      fetch(`${rowport.url}${formA}/changes?since=${since}&limit=1000`, { headers: bearer(key) })
    const [page, again] = await Promise.all([ask(), ask()])
    const text = await page.text()
    assert.equal(await again.text(), text)
    assert.equal(page.status, 200, text)
    longest = Math.max(longest, text.length)
    for (const change of JSON.parse(text) as { cursor: string }[]) cursors.add(change.cursor)
    told += (JSON.parse(text) as unknown[]).length
    since = page.headers.get('X-Change-Cursor') ?? ''
    hasMore = page.headers.get('X-More-Changes') === 'true'
  }
  // Two rows went, or were written over, with the first edit.
  assert.equal(cursors.size, told, 'each once')
  assert.ok(told >= 3 * rows, `${told} changes`)
  assert.ok(longest < 300_000 && pages > 5, `${pages} pages, the longest of ${longest} characters`)
  const after = await client.write(rowport.url, 'POST', '', { sku: 'last' })
  const { changes } = await client.changes(rowport.url, since)
  assert.deepEqual(
    changes.map(({ operation }) => operation),
    [after.headers.get('Operation-Id')],
    'what came after a page that was kept',
  )
})

test('without history nothing is kept, and that is told', async (t) => {
  const { rowport, client, key, formA, id } = await start(t)
  await client.list(rowport.url)
  await rowport.workshop.store.changeSheet(id, { historyDays: 0 })
  await client.write(rowport.url, 'POST', '', { sku: 'C-3' })
  const read = await fetch(rowport.url + formA, { headers: bearer(key) })
  assert.equal(read.headers.get('X-Change-Cursor'), null)
  const asked = await fetch(`${rowport.url}${formA}/changes`, { headers: bearer(key) })
  assert.equal(asked.status, 404)
  assert.match(await asked.text(), /"code":"not_found".*history_days/)
})

test('history off and on again is a new log, and lists from memory carry none of the former one', async (t) => {
  const { rowport, client, key, formA, id } = await start(t)
  const headers = bearer(key)
  const fromMemory = () => fetch(rowport.url + formA, { headers })
  const { cursor: former } = await client.list(rowport.url)
  const other = await startRowport(t, { beside: rowport })
  await client.list(other.url)
  await rowport.workshop.store.changeSheet(id, { historyDays: 0 })
  for (const { url } of [rowport, other]) {
    const read = await fetch(url + formA, { headers })
    assert.equal(read.headers.get('X-Change-Cursor'), null, 'no log is kept')
  }
  await client.write(rowport.url, 'POST', '', { sku: 'C-3' })
  await rowport.workshop.store.changeSheet(id, { historyDays: 7 })
  await fromMemory()
  const over = await fetch(`${rowport.url}${formA}/changes?since=${former}`, { headers })
  assert.equal(over.status, 410)
  const follower = await client.begin(rowport.url, false)
  assert.notEqual(follower.cursor.split('-')[0], former.split('-')[0])
  await client.write(other.url, 'POST', '', { sku: 'D-4' })
  assert.equal((await client.catchUp(rowport.url, follower, 'on again')).length, 1)
  const cursor = (await fromMemory()).headers.get('X-Change-Cursor')
  assert.equal(cursor, follower.cursor)
})

test('another instance tells the difference that both have seen once', async (t) => {
  const { rowport, client, path } = await start(t)
  const other = await startRowport(t, { beside: rowport })
  const { cursor } = await client.list(rowport.url)
  await client.list(other.url)
  for (let n = 1; n <= 5; n++) {
    await edit(path, csv.replace('420', String(n)), n)
    await Promise.all([client.list(rowport.url), client.list(other.url), client.list(rowport.url)])
  }
  const { changes } = await client.changes(other.url, cursor)
  assert.deepEqual(
    changes.map(({ after }) => after.price),
    [1, 2, 3, 4, 5],
  )
})

test('rows that were read in the moment of a write are read again: their list has a cursor all the same', async (t) => {
  const { rowport, client, path, key, formA } = await start(t)
  const { cursor } = await client.list(rowport.url)
  await edit(path, csv.replace('420', '421'), 1)
  const { store } = rowport.workshop
  const { logSeen } = store
  let overtaken = 0
  store.logSeen = async (seen) => (overtaken++ === 0 ? 'overtaken' : logSeen(seen))
  const list = await rowport.get(formA, { ...bearer(key), 'Cache-Control': 'no-cache' })
  assert.match(await list.text(), /421/)
  const { changes } = await client.changes(rowport.url, cursor)
  assert.deepEqual(
    changes.map(({ cursor, after }) => [cursor, after.price]),
    [[list.headers.get('X-Change-Cursor'), 421]],
  )
})

async function start(t: TestContext, content = csv) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const { formA, formB, path, id } = await rowport.connectFile('stock', 'stock.csv', content)
  return { rowport, client: createClient(key, formB), key, formA, path, id }
}

/** Left alone for a while since, each time at another moment. */
async function edit(path: string, content: string, nth: number): Promise<void> {
  await writeFile(path, content)
  const at = new Date(Date.now() - 60 * 60 * 1_000 + nth * 1_000)
  await utimes(path, at, at)
}
