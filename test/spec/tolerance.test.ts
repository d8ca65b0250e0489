import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'

/* What clients do by default, without their users knowing: arrays, addresses taken as they are, forms, Excel. */

const products =
  'sku,name,price,in stock,note,limit\nA1,Oak table,420,TRUE,,1\nA2,Lamp,59.9,FALSE,"0050",2\nA3,Shelf,30,TRUE,,3\n'

test('arrays as axios, qs, jQuery and PHP write them', async (t) => {
  const { read, sheet } = await start(t)
  const some = '[{"sku":"A1","price":420},{"sku":"A3","price":30}]'
  for (const query of [
    'fields[]=sku&fields[]=price&sku[in][]=A1&sku[in][]=A3',
    'fields[0]=sku&fields[1]=price&sku[in][0]=A1&sku[in][1]=A3',
    'fields%5B%5D=sku&fields%5B%5D=price&sku%5Bin%5D%5B0%5D=A1&sku%5Bin%5D%5B1%5D=A3',
    'fields=sku&fields[]=price&sku[in]=A1&sku[in][]=A3',
    'fields[]=sku,price&sku[nin][]=A2',
  ])
    assert.equal(await read(`${sheet.formA}?${query}`), some, query)
  const sorted = '[{"sku":"A1"},{"sku":"A3"},{"sku":"A2"}]'
  assert.equal(await read(`${sheet.formA}?sort[]=-in stock&sort[]=sku&fields[]=sku`), sorted)
  assert.equal(await read(`${sheet.formA}?sku[in][0]=A1,A2&fields[]=sku`), '[{"sku":"A1"},{"sku":"A2"}]')
  assert.equal(await read(`${sheet.formA}/2?fields[]=sku&fields[]=price`), '{"sku":"A1","price":420}')
})

test('a column that has that very name is meant first', async (t) => {
  const { rowport, key } = await start(t)
  const odd = await rowport.connectFile('odd', 'odd.csv', 'fields[],a[in][0],a\nx,1,2\ny,3,4\n')
  const read = async (query: string) => (await rowport.get(odd.formA + query, bearer(key))).text()
  assert.equal(await read('?fields[]=x&fields=a'), '[{"a":2}]')
  assert.equal(await read('?a[in][0]=3&fields=a'), '[{"a":4}]')
  assert.equal(await read('?a[in][1]=2&fields=a'), '[{"a":2}]')
})

test('several values for a bare column are refused with what would be right, and not answered with nothing', async (t) => {
  const { rowport, key, sheet } = await start(t)
  for (const query of ['sku[]=A1&sku[]=A2', 'sku[0]=A1']) {
    const answer = await rowport.get(`${sheet.formA}?${query}`, bearer(key))
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /write \\"sku\[in\]\\"/)
  }
})

test('the addresses of further pages can be taken as they are, in both forms', async (t) => {
  const { rowport, key, sheet } = await start(t)
  let url: string | null = `${rowport.url}${sheet.formB}?limit=2&sort[]=-price&api_key=${key.value}`
  const seen: string[] = []
  while (url !== null) {
    const answer: Response = await fetch(url, { headers: bearer(key) })
    const { data, meta } = (await answer.json()) as { data: { sku: string }[]; meta: { next?: string } }
    seen.push(...data.map(({ sku }) => sku))
    const linked = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null
    assert.equal(meta.next ?? null, linked)
    assert.doesNotMatch(String(linked), /api_key|sk_live/)
    url = linked
  }
  assert.deepEqual(seen, ['A1', 'A2', 'A3'])
  const flat = await rowport.get(`${sheet.formA}?limit=1`, bearer(key))
  assert.match(
    flat.headers.get('link') ?? '',
    new RegExp(`^<${rowport.url}${sheet.formA}\\?limit=1&offset=1>`),
  )
})

test('addresses begin with what the operator has set, else with the name that the client used', async (t) => {
  const { rowport, key, sheet } = await start(t)
  const others = [
    ['sheets.example.com:8080', 'http://sheets.example.com:8080'],
    ['[::1]:8787', 'http://[::1]:8787'],
  ]
  for (const [host = '', base] of others) {
    const { link, body } = await askedAs(host, rowport.port, `${sheet.formB}?limit=1`, key.value)
    assert.ok(link.startsWith(`<${base}${sheet.formB}?`), link)
    assert.equal(body.meta.next, `${base}${sheet.formB}?limit=1&offset=1`)
    const { body: described } = await askedAs(host, rowport.port, '/openapi.json', key.value)
    assert.deepEqual(described.servers, [{ url: base }])
  }
  const settings = { baseUrl: 'https://sheets.example.com/rowport', isBaseUrlSet: true }
  const behind = await startRowport(t, { settings })
  const there = await behind.connectFile('s', 's.csv', 'a\n1\n2\n')
  const keyThere = await behind.createKey()
  const { link } = await askedAs('other.example.com', behind.port, `${there.formA}?limit=1`, keyThere.value)
  assert.ok(link.startsWith('<https://sheets.example.com/rowport/api/sheets/acme/s?limit=1&offset=1>'), link)
})

test('forms add and change rows; a text becomes what the column holds', async (t) => {
  const { rowport, key, sheet } = await start(t)
  const send = async (
    method: string,
    path: string,
    body: string | URLSearchParams | FormData,
    type?: string,
  ) => {
    const headers = { ...bearer(key), ...(type !== undefined && { 'Content-Type': type }) }
    const answer = await fetch(rowport.url + path, { method, headers, body })
    return { status: answer.status, text: await answer.text() }
  }
  const multipart = new FormData()
  for (const [name, value] of [
    ['sku', 'B2'],
    ['Name', 'Größe "M"\r\n=1+1'],
    ['price', '007'],
    ['in stock', 'false'],
    ['note', ''],
  ] as const)
    multipart.set(name, value)

  const urlencoded = new URLSearchParams({
    sku: 'B1',
    name: 'a&b=c',
    price: '12.50',
    'in stock': 'on',
    note: '0050',
  })
  const first = await send('POST', sheet.formA, urlencoded)
  assert.equal(first.status, 201, first.text)
  assert.deepEqual(JSON.parse(first.text).rows, [
    { _row: 5, sku: 'B1', name: 'a&b=c', price: 12.5, 'in stock': true, note: '0050', limit: null },
  ])
  const second = await send('POST', sheet.formB, multipart)
  assert.equal(second.status, 201, second.text)
  assert.deepEqual(JSON.parse(second.text).data, [
    { _row: 6, sku: 'B2', name: 'Größe "M"\n=1+1', price: '007', 'in stock': false, note: null, limit: null },
  ])
  const changed = await send('PATCH', `${sheet.formA}/5`, new URLSearchParams({ PRICE: ' 13 ' }))
  assert.equal(JSON.parse(changed.text).data.price, ' 13 ', 'the column holds a text now, the 007')
  const renamed = new FormData()
  renamed.set('name', 'Bench')
  assert.equal(JSON.parse((await send('PUT', `${sheet.formA}/5`, renamed)).text).data.name, 'Bench')

  // Several of one name, as from a list in which more than one can be chosen.
  const several = await send(
    'POST',
    sheet.formA,
    'sku=C1&note=red&note=blue',
    'application/x-www-form-urlencoded',
  )
  assert.equal(JSON.parse(several.text).rows[0].note, 'red, blue')

  // What `curl -d` says of JSON is not true.
  const json = await send(
    'POST',
    sheet.formA,
    ' {"sku":"J1","name":"a=b"}',
    'application/x-www-form-urlencoded',
  )
  assert.equal(json.status, 201, json.text)
})

test('what is no good form is refused by name, and nothing is written', async (t) => {
  const { rowport, key, sheet, read } = await start(t)
  const before = await read(sheet.formA)
  const withFile = new FormData()
  withFile.set('sku', 'x')
  withFile.set('name', new Blob(['bytes']), 'photo.jpg')
  const multipart = 'multipart/form-data; boundary=b'
  const part = (head: string, text: string) => `--b\r\n${head}\r\n\r\n${text}\r\n`
  const named = (name: string, text: string) => part(`Content-Disposition: form-data; name="${name}"`, text)
  const cases: [body: string | FormData, type: string | null, details: RegExp][] = [
    [withFile, null, /"name" is a file/],
    ['sku=1&nmae=2', 'application/x-www-form-urlencoded', /Unknown field \\?"nmae.*Did you mean \\?"name/],
    ['sku=%zz', 'application/x-www-form-urlencoded', /percent-encoding/],
    ['', 'application/x-www-form-urlencoded', /not valid JSON/],
    ['hello', 'application/x-www-form-urlencoded', /not valid JSON/],
    [`${named('sku', 'x')}`, multipart, /no form that can be read/],
    [`${named('sku', 'x')}--b--`, 'multipart/form-data', /no form that can be read/],
    [`${part('Content-Type: text/plain', 'x')}--b--`, multipart, /no form that can be read/],
    ['--b--', multipart, /no fields/],
    [`${named('a', 'x').repeat(3_000)}--b--`, multipart, /2001 fields/],
    [`sku=${'x'.repeat(50_001)}`, 'application/x-www-form-urlencoded', /50000 characters/],
  ]
  for (const [body, type, details] of cases) {
    const headers = { ...bearer(key), ...(type !== null && { 'Content-Type': type }) }
    const answer = await fetch(rowport.url + sheet.formA, { method: 'POST', headers, body })
    const text = await answer.text()
    assert.equal(answer.status, 400, text)
    assert.match(text.replaceAll('\\"', '"'), details)
  }
  const emptyFile = `${named('sku', 'Z')}${part('Content-Disposition: form-data; name="photo"; filename=""', '')}--b--\r\n`
  const headers = { ...bearer(key), 'Content-Type': multipart }
  assert.equal(await read(sheet.formA), before)
  const answer = await fetch(rowport.url + sheet.formA, { method: 'POST', headers, body: emptyFile })
  assert.equal(answer.status, 201, 'a place for a file that nobody chose')
})

test('CSV for Excel: a byte order mark on request, and a file name', async (t) => {
  const { rowport, key, sheet } = await start(t)
  for (const [path, name] of [
    [sheet.formA, 'products'],
    [sheet.formB, sheet.id],
    [`${sheet.formA}/2`, 'products'],
  ]) {
    const get = async (query: string) => {
      const answer = await rowport.get(`${path}?${query}`, bearer(key))
      return { head: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
    }
    const plain = await get('format=csv')
    const marked = await get('format=csv&bom=true')
    assert.deepEqual(marked.bytes, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.bytes]))
    for (const { head } of [plain, marked])
      assert.equal(head.get('content-disposition'), `attachment; filename="${name}.csv"`)
    const json = await get('bom=true')
    assert.equal(json.head.get('content-disposition'), null)
    assert.notEqual(json.bytes[0], 0xef)
  }
})

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const read = async (path: string) => (await rowport.get(path, bearer(key))).text()
  return { rowport, key, sheet, read }
}

/** fetch sets `Host` by itself. */
function askedAs(host: string, port: number, path: string, key: string) {
  return new Promise<{ link: string; body: { meta: { next: string }; servers: object[] } }>(
    (resolve, reject) => {
      const headers = { Host: host, Authorization: `Bearer ${key}` }
      request({ port, path, host: '127.0.0.1', headers }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => {
          text += chunk
        })
        answer.on('end', () => resolve({ link: String(answer.headers.link ?? ''), body: JSON.parse(text) }))
      })
        .on('error', reject)
        .end()
    },
  )
}
