import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'

const stock = [
  'sku,name,price',
  'A-1,Lamp,59.9',
  'a-2,Table,420',
  '7,Shelf,99',
  '"7",Chair,12',
  'x/y,Bed,1',
].join('\n')

test('a row is read by what it holds, in both forms, as by its number', async (t) => {
  const { get, formA, formB } = await start(t)
  const [byValue, byNumber] = [await get(`${formA}/by/sku/A-1`), await get(`${formA}/2`)]
  assert.deepEqual(byValue.json, { sku: 'A-1', name: 'Lamp', price: 59.9 })
  assert.equal(byValue.etag, byNumber.etag)
  assert.deepEqual((await get(`${formB}/by/sku/a-1`)).json.meta.row, 2)
  assert.deepEqual((await get(`${formA}/by/SKU/A-2?fields=name&row_numbers=true`)).json, {
    _row: 3,
    name: 'Table',
  })
  assert.deepEqual((await get(`${formA}/by/sku/x%2Fy`)).json.name, 'Bed')
  assert.deepEqual((await get(`${formA}/by/price/420.0`)).json.name, 'Table')
  const cases: [path: string, status: number, code: string, details: RegExp][] = [
    ['/by/sku/none', 404, 'row_not_found', /No row has this value in "sku"/],
    ['/by/sku/7', 409, 'ambiguous_row', /rows 4, 5\./],
    ['/by/skuu/7', 400, 'invalid_query', /no column "skuu" for "by".*Did you mean "sku"/],
    ['/by/sku/A-1?row=2', 400, 'invalid_row_number', /already names the row by a value/],
    ['/by/sku/A-1?q=x', 400, 'invalid_query', /cannot be used here/],
    ['/by/sku', 404, 'not_found', /^$/],
    ['/by', 400, 'invalid_row_number', /^$/],
  ]
  for (const [path, status, code, details] of cases) {
    const { status: told, json } = await get(formA + path)
    assert.deepEqual([told, json.code], [status, code], path)
    assert.match(json.details ?? '', details)
  }
})

test('a row is changed and deleted by what it holds, with If-Match and a key', async (t) => {
  const { get, send, formA, formB, path } = await start(t)
  const changed = await send('PATCH', `${formA}/by/sku/a-1`, { price: 60 })
  assert.deepEqual(changed.json, {
    success: true,
    message: 'Row 2 updated',
    row: 2,
    data: { sku: 'A-1', name: 'Lamp', price: 60 },
  })
  assert.equal(changed.etag, (await get(`${formA}/2`)).etag)
  const stale = await send('PUT', `${formA}/by/sku/A-1`, { price: 61 }, { 'If-Match': '"old"' })
  assert.deepEqual([stale.status, stale.json.code], [412, 'precondition_failed'])
  const fresh = await send('PUT', `${formB}/by/sku/A-1`, { price: 61 }, { 'If-Match': changed.etag ?? '' })
  assert.deepEqual([fresh.status, fresh.json.data.price], [200, 61])
  const key = { 'Idempotency-Key': 'once' }
  const gone = await send('DELETE', `${formA}/by/sku/A-1`, null, key)
  assert.deepEqual([gone.status, gone.json.message, gone.json.data.name], [200, 'Row 2 deleted', 'Lamp'])
  const again = await send('DELETE', `${formB}/by/sku/A-1`, null, key)
  assert.deepEqual([again.status, again.replayed, again.json.data.name], [200, 'true', 'Lamp'])
  const other = await send('DELETE', `${formA}/by/sku/A-2`, null, key)
  assert.deepEqual([other.status, other.json.code], [422, 'idempotency_key_reused'])
  assert.deepEqual((await send('DELETE', `${formA}/by/sku/7`, null)).json.code, 'ambiguous_row')
  assert.deepEqual((await send('DELETE', `${formA}/by/sku/A-1`, null)).json.code, 'row_not_found')
  assert.deepEqual((await send('POST', `${formA}/by/sku/A-1`, {})).status, 405)
  assert.equal(
    await readFile(path, 'utf8'),
    ['sku,name,price', 'a-2,Table,420', '7,Shelf,99', '"7",Chair,12', 'x/y,Bed,1'].join('\n'),
  )
})

test('an upsert adds, changes and leaves alone, all or none, in the order sent', async (t) => {
  const { send, formA, formB, path } = await start(t)
  const rows = [
    { sku: 'N-1', name: 'New' },
    { sku: 'A-1', price: 60 },
    { sku: 'A-2', name: 'Table' },
    { sku: 'N-2', name: 'Newer' },
  ]
  const first = await send('POST', `${formA}?upsert=sku`, rows, { 'Idempotency-Key': 'u' })
  assert.equal(first.status, 201)
  assert.deepEqual(first.json, {
    success: true,
    message: '2 row(s) added, 1 updated, 1 unchanged',
    rows_added: 2,
    rows_updated: 1,
    rows_unchanged: 1,
    rows: [
      { _row: 7, sku: 'N-1', name: 'New', price: null },
      { _row: 2, sku: 'A-1', name: 'Lamp', price: 60 },
      { _row: 3, sku: 'a-2', name: 'Table', price: 420 },
      { _row: 8, sku: 'N-2', name: 'Newer', price: null },
    ],
  })
  const replay = await send('POST', `${formB}?upsert=sku`, rows, { 'Idempotency-Key': 'u' })
  assert.deepEqual(
    [replay.status, replay.replayed, replay.json.meta],
    [201, 'true', { rows_added: 2, rows_updated: 1, rows_unchanged: 1, rows: [7, 2, 3, 8] }],
  )
  const before = await readFile(path, 'utf8')
  const same = await send('POST', `${formB}?upsert=sku`, rows, { 'Idempotency-Key': 'v' })
  assert.deepEqual([same.status, same.json.meta.rows_unchanged], [200, 4])
  const sameAgain = await send('POST', `${formB}?upsert=sku`, rows, { 'Idempotency-Key': 'v' })
  assert.deepEqual([sameAgain.status, sameAgain.replayed, sameAgain.json], [200, 'true', same.json])
  const skipped = await send('POST', `${formA}?upsert=sku&on_match=skip`, { sku: 'A-1', price: 1 })
  assert.deepEqual([skipped.status, skipped.json.rows_unchanged, skipped.json.rows[0].price], [200, 1, 60])
  const refused: [query: string, body: unknown, status: number, code: string][] = [
    ['upsert=sku', [{ sku: 'Z' }, { name: 'x' }], 400, 'invalid_body'],
    ['upsert=sku', [{ sku: 'Z' }, { sku: null, name: 'x' }], 400, 'invalid_body'],
    ['upsert=sku', [{ sku: 'Z' }, { sku: 'z' }], 400, 'invalid_body'],
    ['upsert=sku', [{ sku: 'Z' }, { sku: 7 }], 409, 'ambiguous_row'],
    ['upsert=skuu', { sku: 'Z' }, 400, 'invalid_query'],
    ['upsert=sku&on_match=x', { sku: 'Z' }, 400, 'invalid_query'],
    ['on_match=skip', { sku: 'Z' }, 400, 'invalid_query'],
    ['dryrun=true', { sku: 'Z' }, 400, 'invalid_query'],
  ]
  for (const [query, body, status, code] of refused) {
    const answer = await send('POST', `${formA}?${query}`, body)
    assert.deepEqual([answer.status, answer.json.code], [status, code], query + JSON.stringify(body))
  }
  assert.equal(await readFile(path, 'utf8'), before)
})

test('many rows are changed and deleted by filters, and never by leaving something out', async (t) => {
  const { get, send, formA, formB, path } = await start(t)
  const before = await readFile(path, 'utf8')
  const refused: [method: string, query: string, status: number, code: string, details: RegExp][] = [
    ['PATCH', '', 400, 'invalid_row_number', /^$/],
    ['DELETE', '', 400, 'invalid_row_number', /^$/],
    ['DELETE', '?dry_run=true', 400, 'invalid_row_number', /^$/],
    ['PUT', '?sku=7', 400, 'invalid_row_number', /PATCH/],
    ['DELETE', '?all=true&max_rows=4', 409, 'too_many_rows', /^5 rows match, and at most 4/],
    ['DELETE', '?skuu=7', 400, 'invalid_query', /no column "skuu"/],
    ['DELETE', '?sku=7&max_rows=10001', 400, 'invalid_query', /1 to 10000/],
    ['DELETE', '?_row[eq]=2', 400, 'invalid_query', /no column "_row"/],
    ['PATCH', '?sku=7&utm_x[gt]=2', 400, 'invalid_query', /no column "utm_x"/],
    ['DELETE', '?_cb=2', 400, 'invalid_row_number', /^$/],
    ['DELETE', '?all=yes', 400, 'invalid_query', /"all"/],
    ['DELETE', '/2?name=Lamp', 400, 'invalid_query', /cannot be used here/],
    ['PATCH', '?sku=7&If=1', 400, 'invalid_query', /no column "If"/],
  ]
  for (const [method, query, status, code, details] of refused) {
    const answer = await send(method, formA + query, method === 'DELETE' ? null : { price: 1 })
    assert.deepEqual([answer.status, answer.json.code], [status, code], method + query)
    assert.match(answer.json.details ?? '', details)
  }
  assert.equal(await readFile(path, 'utf8'), before)
  const changed = await send('PATCH', `${formA}?price[gte]=59&price[lt]=400`, { price: 50 })
  assert.deepEqual(changed.json, {
    success: true,
    message: '2 row(s) updated',
    rows_updated: 2,
    rows: [
      { _row: 2, sku: 'A-1', name: 'Lamp', price: 50 },
      { _row: 4, sku: 7, name: 'Shelf', price: 50 },
    ],
  })
  const none = await send('DELETE', `${formB}?name=Nobody`, null)
  assert.deepEqual([none.status, none.json], [200, { data: [], meta: { rows_deleted: 0, rows: [] } }])
  const list = await get(formA)
  const stale = await send('DELETE', `${formA}?price=50`, null, { 'If-Match': '"old"' })
  assert.equal(stale.status, 412)
  const key = { 'Idempotency-Key': 'many', 'If-Match': list.etag ?? '' }
  const deleted = await send('DELETE', `${formB}?price=50`, null, key)
  assert.deepEqual(deleted.json.meta, { rows_deleted: 2, rows: [2, 4] })
  assert.deepEqual((await send('DELETE', `${formB}?price=50`, null, key)).replayed, 'true')
  const other = await send('DELETE', `${formB}?price=420`, null, key)
  assert.deepEqual([other.status, other.json.error.code], [422, 'idempotency_key_reused'])
  assert.equal(
    await readFile(path, 'utf8'),
    ['sku,name,price', 'a-2,Table,420', '"7",Chair,12', 'x/y,Bed,1'].join('\n'),
  )
})

test('a dry run gives the very answer, and nothing is written or remembered', async (t) => {
  const { send, formA, formB, path, copy } = await start(t)
  const before = await readFile(path, 'utf8')
  const writes: [method: string, path: string, body: unknown][] = [
    ['POST', '', [{ sku: 'N', name: 'New' }, { sku: 'M' }]],
    ['POST', '', { sku: 'N', name: 'New' }],
    ['POST', '?upsert=sku', [{ sku: 'N' }, { sku: 'A-1', price: 1 }]],
    ['PUT', '/3', { price: 5 }],
    ['PATCH', '/by/sku/A-1', { price: 5 }],
    ['PATCH', '?price[gt]=50', { price: 5 }],
    ['DELETE', '/by/sku/A-1', null],
    ['DELETE', '/2', null],
    ['DELETE', '?price[gt]=50', null],
  ]
  for (const [method, below, body] of writes) {
    for (const form of [formA, formB]) {
      const query = below.includes('?') ? '&dry_run=true' : '?dry_run=true'
      const dry = await send(method, form + below + query, body, { 'Idempotency-Key': 'one-for-all' })
      assert.equal(await readFile(path, 'utf8'), before, `${method} ${below}`)
      const fresh = await copy()
      const real = await send(method, fresh[form === formA ? 'formA' : 'formB'] + below, body)
      const meta = form === formA ? dry.json : dry.json.meta
      assert.equal(meta.dry_run, true)
      delete meta.dry_run
      assert.deepEqual(
        [dry.status, dry.json, dry.etag, dry.replayed],
        [real.status, real.json, real.etag, null],
      )
    }
  }
  const refused = await send('PATCH', `${formA}/by/sku/7?dry_run=true`, { price: 5 })
  assert.deepEqual([refused.status, refused.json.code], [409, 'ambiguous_row'])
})

// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test asserts.
type Json = any

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('stock', 'stock.csv', stock)
  const headers = bearer(await rowport.createKey())
  let copies = 0
  const answerOf = async (answer: Response) => ({
    status: answer.status,
    json: (await answer.json()) as Json,
    etag: answer.headers.get('etag'),
    replayed: answer.headers.get('idempotent-replayed'),
  })
  return {
    ...sheet,
    rowport,
    /** Another copy of the sheet. */
    copy: () => rowport.connectFile(`copy-${++copies}`, `copy-${copies}.csv`, stock),
    get: async (path: string) => answerOf(await rowport.get(path, headers)),
    send: async (method: string, path: string, body: unknown, more: Record<string, string> = {}) =>
      answerOf(
        await fetch(rowport.url + path, {
          method,
          headers: { ...headers, ...more },
          ...(body === null ? {} : { body: JSON.stringify(body) }),
        }),
      ),
  }
}
