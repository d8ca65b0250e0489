import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, done, type Rowport, startMs, startRowport } from '../harness.ts'

const products = 'name,price,in stock\nOak table,420,TRUE\nLamp,59.9,FALSE\n'

test('a list is the rows under their headers, typed, in both forms', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()

  const formA = await rowport.get(sheet.formA, bearer(key))
  assert.equal(formA.status, 200)
  assert.equal(formA.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(formA.headers.get('x-total-count'), '2')
  assert.equal(
    await formA.text(),
    '[{"name":"Oak table","price":420,"in stock":true},{"name":"Lamp","price":59.9,"in stock":false}]',
  )

  const formB = await rowport.get(sheet.formB, bearer(key))
  assert.equal(formB.status, 200)
  const cursor = formB.headers.get('X-Change-Cursor')
  assert.match(cursor ?? '', /^[0-9A-Za-z]{8}-0$/)
  assert.equal(formA.headers.get('X-Change-Cursor'), cursor)
  assert.deepEqual(await formB.json(), {
    data: [
      { name: 'Oak table', price: 420, 'in stock': true },
      { name: 'Lamp', price: 59.9, 'in stock': false },
    ],
    meta: {
      total: 2,
      count: 2,
      limit: null,
      offset: 0,
      columns: ['name', 'price', 'in stock'],
      rows: [2, 3],
      as_of: new Date(startMs).toISOString(),
      cursor,
    },
  })
})

test('header rules: trimmed, blank ones hidden, repeated ones numbered, odd names survive in order', async (t) => {
  const { text } = await csv(t)
  assert.equal(
    await text(' name ,,name,__proto__,2024,constructor,name,_row\na,hidden,b,c,d,e,f,g\n'),
    '[{"name":"a","name_2":"b","__proto__":"c","2024":"d","constructor":"e","name_3":"f","_row_2":"g"}]',
  )
  assert.equal(await text('name,name,name_2\n1,2,3\n'), '[{"name":1,"name_3":2,"name_2":3}]')
  assert.equal(await text('a,b\n1\n'), '[{"a":1,"b":null}]', 'every key is in every row')
})

test('values: text stays text, empty is null, a quoted field is text', async (t) => {
  const { text } = await csv(t)
  assert.equal(
    await text('a,b,c,d,e,f\n0050,"7",TRUE,true,,"say ""hi""\nagain"\n'),
    '[{"a":"0050","b":"7","c":true,"d":"true","e":null,"f":"say \\"hi\\"\\nagain"}]',
  )
})

test('blank rows are left out of lists, keep their number, and can be read alone', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put('a,b\n1,2\n\n,\n3,4\n\n\n')
  const list = await rowport.get(`${sheet.formA}?row_numbers=true`, bearer(key))
  assert.equal(await list.text(), '[{"_row":2,"a":1,"b":2},{"_row":5,"a":3,"b":4}]')
  const nested = (await (await rowport.get(sheet.formB, bearer(key))).json()) as { meta: { rows: number[] } }
  assert.deepEqual(nested.meta.rows, [2, 5])
  const blank = await rowport.get(`${sheet.formA}/3`, bearer(key))
  assert.equal(await blank.text(), '{"a":null,"b":null}')
  const past = await rowport.get(`${sheet.formA}/6`, bearer(key))
  assert.equal(past.status, 404)
  assert.deepEqual(await past.json(), {
    error: 'Row not found',
    code: 'row_not_found',
    details: 'The last row with data is 5.',
  })
})

test('one row by its number, in the path or as ?row=, in both forms', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()
  const row = { name: 'Lamp', price: 59.9, 'in stock': false }
  for (const path of [`${sheet.formA}/3`, `${sheet.formA}?row=3`, `${sheet.formA}/3?row=3`]) {
    assert.deepEqual(await (await rowport.get(path, bearer(key))).json(), row, path)
  }
  for (const path of [`${sheet.formB}/3`, `${sheet.formB}?row=3`]) {
    const expected = { data: row, meta: { row: 3, as_of: new Date(startMs).toISOString() } }
    assert.deepEqual(await (await rowport.get(path, bearer(key))).json(), expected, path)
  }
  const numbered = await rowport.get(`${sheet.formA}/3?row_numbers=true`, bearer(key))
  assert.equal(await numbered.text(), '{"_row":3,"name":"Lamp","price":59.9,"in stock":false}')
})

test('a row number that is none is refused; one that is too large is not found', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()
  for (const bad of ['1', '0', '-2', '2.5', '02', '+2', '2e0', 'abc', '%D9%A3', '2%20', '0x2']) {
    const answer = await rowport.get(`${sheet.formA}/${bad}`, bearer(key))
    assert.equal(answer.status, 400, bad)
    const { code } = (await answer.json()) as { code: string }
    assert.equal(code, 'invalid_row_number', bad)
  }
  for (const bad of ['?row=1', '?row=', '?row=2&row=3', '/2?row=3']) {
    const answer = await rowport.get(`${sheet.formB}${bad}`, bearer(key))
    assert.equal(answer.status, 400, bad)
    const { error } = (await answer.json()) as { error: { code: string } }
    assert.equal(error.code, 'invalid_row_number', bad)
  }
  for (const large of ['4', '1048577', '99999999999999999999999']) {
    assert.equal((await rowport.get(`${sheet.formA}/${large}`, bearer(key))).status, 404, large)
  }
})

test('no headers → 400 missing_headers; headers and no rows → an empty list', async (t) => {
  const { rowport, key, put } = await csv(t)
  for (const content of ['', '\n1,2\n', ',,\n1,2,3\n', '  , \n1,2\n']) {
    const sheet = await put(content)
    for (const path of [sheet.formA, `${sheet.formA}/2`]) {
      const answer = await rowport.get(path, bearer(key))
      assert.equal(answer.status, 400, JSON.stringify(content))
      assert.deepEqual(await answer.json(), {
        error: 'Could not determine sheet headers. Ensure the sheet has a header row.',
        code: 'missing_headers',
      })
    }
  }
  const empty = await put('a,b\n')
  assert.equal(await (await rowport.get(empty.formA, bearer(key))).text(), '[]')
  const nested = await rowport.get(empty.formB, bearer(key))
  assert.equal(nested.status, 200)
  assert.equal(nested.headers.get('x-total-count'), '0')
})

test('limit and offset cut the list, with totals and links that never carry the key', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put(`n\n${[1, 2, 3, 4, 5].join('\n')}\n`)
  const page = await rowport.get(`${sheet.formA}?limit=2&offset=2&utm_source=x&api_key=${key.value}`)
  assert.equal(await page.text(), '[{"n":3},{"n":4}]')
  assert.equal(page.headers.get('x-total-count'), '5')
  assert.equal(
    page.headers.get('link'),
    `<${rowport.url}${sheet.formA}?limit=2&offset=4>; rel="next", <${rowport.url}${sheet.formA}?limit=2&offset=0>; rel="prev"`,
  )
  const last = await rowport.get(`${sheet.formB}?limit=2&offset=4`, bearer(key))
  assert.match(last.headers.get('link') ?? '', /^<[^>]+offset=2>; rel="prev"$/)
  const { data, meta } = (await last.json()) as { data: unknown[]; meta: object }
  assert.deepEqual(data, [{ n: 5 }])
  assert.deepEqual(
    { ...meta, as_of: null, cursor: null },
    { total: 5, count: 1, limit: 2, offset: 4, columns: ['n'], rows: [6], as_of: null, cursor: null },
  )
  const pages: [query: string, body: string][] = [
    ['?limit=0', '[]'],
    ['?offset=9', '[]'],
    ['?limit=99', '[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]'],
    ['?limit=1&row_numbers=true', '[{"_row":2,"n":1}]'],
  ]
  for (const [query, body] of pages) {
    assert.equal(await (await rowport.get(sheet.formA + query, bearer(key))).text(), body, query)
  }
})

test('an unknown parameter or a malformed value is refused by name; _ and utm_ are ignored', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put('a\n1\n')
  for (const query of [
    'limit=x',
    'limit=-1',
    'offset=1.5',
    'row_numbers=maybe',
    'colour=red',
    'limit=%E0%A4%A',
  ]) {
    const answer = await rowport.get(`${sheet.formA}?${query}`, bearer(key))
    assert.equal(answer.status, 400, query)
    const { code, details } = (await answer.json()) as { code: string; details: string }
    assert.equal(code, 'invalid_query', query)
    assert.ok(details.length > 10, query)
  }
  assert.equal((await rowport.get(`${sheet.formA}?_=123&utm_campaign=x&&`, bearer(key))).status, 200)
})

test('HEAD answers like GET, without the body', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put(products)
  for (const path of [sheet.formA, `${sheet.formA}/2`, sheet.formB, `${sheet.formB}/99`]) {
    const get = await rowport.get(path, bearer(key))
    const head = await fetch(rowport.url + path, { method: 'HEAD', headers: bearer(key) })
    const body = await get.text()
    assert.equal(await head.text(), '')
    assert.equal(head.status, get.status)
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(body)))
    assert.equal(head.headers.get('etag'), get.headers.get('etag'))
  }
})

test('the ETag holds while the rows do, and If-None-Match saves the body', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put(products)
  for (const path of [sheet.formA, sheet.formB, `${sheet.formA}/2`, `${sheet.formB}/2`]) {
    const first = await rowport.get(path, bearer(key))
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{22}"$/)
    const body = await first.text()
    rowport.clock.advanceMs(60_000)
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await rowport.get(path, { ...bearer(key), 'If-None-Match': sent })
      assert.equal(again.status, 304, `${path} ${sent}`)
      assert.equal(again.headers.get('etag'), etag)
      assert.equal(await again.text(), '')
    }
    const other = await rowport.get(path, { ...bearer(key), 'If-None-Match': '"x"' })
    assert.equal(await other.text(), body, 'equal rows are equal bytes, also after a fresh read')
  }
  await writeFile(sheet.path, products.replace('420', '421'))
  const changed = await rowport.get(`${sheet.formA}/2`, { ...bearer(key), 'Cache-Control': 'no-cache' })
  const untouched = await rowport.get(`${sheet.formA}/3`, bearer(key))
  assert.equal(changed.status, 200)
  assert.notEqual(changed.headers.get('etag'), untouched.headers.get('etag'))
})

test('rows come from memory for cache_seconds; then, or when asked, an outside edit shows', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put('a\n1\n')
  const read = async (headers = {}) => {
    const answer = await rowport.get(sheet.formA, { ...bearer(key), ...headers })
    return [await answer.text(), answer.headers.get('age'), answer.headers.get('cache-status')]
  }
  assert.deepEqual(await read(), ['[{"a":1}]', '0', 'rowport; fwd=miss'])
  await writeFile(sheet.path, 'a\n2\n')
  rowport.clock.advanceMs(9_999)
  assert.deepEqual(await read(), ['[{"a":1}]', '9', 'rowport; hit'])
  rowport.clock.advanceMs(1)
  assert.deepEqual(await read(), ['[{"a":2}]', '0', 'rowport; fwd=stale'])
  await writeFile(sheet.path, 'a\n3\n')
  assert.deepEqual(await read({ 'Cache-Control': 'no-cache' }), ['[{"a":3}]', '0', 'rowport; fwd=stale'])
  assert.deepEqual(await read(), ['[{"a":3}]', '0', 'rowport; hit'])
})

test('cache_seconds of a sheet: 0 looks at the file each time, a change of it holds at once', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put('a\n1\n')
  const read = async () => (await rowport.get(sheet.formA, bearer(key))).text()
  assert.equal(await read(), '[{"a":1}]')
  done(await rowport.workshop.sheets.change('acme', 'sheet-1', { cacheSeconds: 0 }))
  for (const n of [2, 3]) {
    await writeFile(sheet.path, `a\n${n}\n`)
    assert.equal(await read(), `[{"a":${n}}]`)
  }
  done(await rowport.workshop.sheets.change('acme', 'sheet-1', { cacheSeconds: 3_600 }))
  await writeFile(sheet.path, 'a\n4\n')
  rowport.clock.advanceMs(3_599_999)
  assert.equal(await read(), '[{"a":3}]')
  rowport.clock.advanceMs(1)
  assert.equal(await read(), '[{"a":4}]')
})

test('any number of readers of a cold sheet share one read of the file', async (t) => {
  const { rowport, key, put } = await csv(t)
  const sheet = await put(products)
  const answers = await Promise.all(Array.from({ length: 100 }, () => rowport.get(sheet.formA, bearer(key))))
  assert.ok(answers.every((answer) => answer.status === 200))
  assert.equal(rowport.seen.filter(({ event }) => event === 'sheet_fetched').length, 1)
})

test('beyond the memory for snapshots, the sheet that was longest unused is read again', async (t) => {
  // Room for one sheet beside one that is being read, which counts four times by then: its rows may take as much.
  const bytes = 8_000
  const rowport = await startRowport(t, { settings: { maxSnapshotBytes: 5.5 * bytes } })
  const key = await rowport.createKey()
  const sheets = await Promise.all(
    ['a', 'b', 'c'].map((slug) => rowport.connectFile(slug, `${slug}.csv`, `text\n${'x'.repeat(bytes)}\n`)),
  )
  const sourceOf = async (at: number) => {
    rowport.clock.advanceMs(1)
    const answer = await rowport.get(sheets[at]?.formA ?? '', bearer(key))
    return answer.headers.get('cache-status')
  }
  const seen = []
  for (const at of [0, 1, 0, 2, 0, 1]) seen.push(await sourceOf(at))
  const [hit, miss] = ['rowport; hit', 'rowport; fwd=miss']
  assert.deepEqual(seen, [miss, miss, hit, miss, hit, miss])
  const metrics = await (await rowport.get('/metrics')).text()
  assert.match(metrics, /rowport_snapshots_dropped_total 2/)
  assert.match(metrics, /rowport_snapshots 2/)
})

test('GET /v1/sheets lists what the key may read', async (t) => {
  const rowport = await startRowport(t)
  const first = await rowport.connectFile('alpha', 'a.csv', products)
  await rowport.connectFile('beta', 'b.csv', products)
  const slugs = async (key: { value: string }) => {
    const { data } = (await (await rowport.get('/v1/sheets', bearer(key))).json()) as {
      data: { slug: string }[]
    }
    return data.map(({ slug }) => slug)
  }
  assert.deepEqual(await slugs(await rowport.createKey()), ['alpha', 'beta'])
  assert.deepEqual(await slugs(await rowport.createKey({ sheet: 'beta' })), ['beta'])
  const { data } = (await (await rowport.get('/v1/sheets', bearer(await rowport.createKey()))).json()) as {
    data: object[]
  }
  assert.deepEqual(data[0], {
    id: first.id,
    slug: 'alpha',
    access: 'private',
    paused: false,
    url: first.formB,
  })
  assert.equal((await rowport.get('/v1/sheets')).status, 401)
  assert.equal((await rowport.get('/v1/sheets', { 'X-API-Key': 'nonsense' })).status, 403)
})

/** A server with a key, and sheets made of CSV text as needed. */
async function csv(t: TestContext) {
  const rowport: Rowport = await startRowport(t)
  const key = await rowport.createKey()
  let made = 0
  const put = (content: string) => {
    made++
    return rowport.connectFile(`sheet-${made}`, `sheet-${made}.csv`, content)
  }
  const text = async (content: string) => (await rowport.get((await put(content)).formA, bearer(key))).text()
  return { rowport, key, put, text }
}
