import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { bearer, startRowport } from '../harness.ts'

const products =
  'name,price,in stock,code,note\nOak table,420,TRUE,"7","heavy, ""solid"""\nLamp,59.9,FALSE,0050,\n,1e3,,TRUE,"two\nlines"\n'
const codings = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

test('CSV and lines of JSON, by parameter or by Accept, the same in both forms', async (t) => {
  const { ask, sheet } = await start(t)
  const csv =
    'name,price,in stock,code,note\r\nOak table,420,TRUE,"7","heavy, ""solid"""\r\nLamp,59.9,FALSE,"0050",\r\n' +
    ',"1e3",,TRUE,"two\nlines"\r\n'
  const lines = [
    '{"name":"Oak table","price":420,"in stock":true,"code":"7","note":"heavy, \\"solid\\""}\n',
    '{"name":"Lamp","price":59.9,"in stock":false,"code":"0050","note":null}\n',
    '{"name":null,"price":"1e3","in stock":null,"code":true,"note":"two\\nlines"}\n',
  ].join('')
  for (const path of [sheet.formA, sheet.formB]) {
    for (const [query, accept] of [
      ['?format=csv', '*/*'],
      ['', 'text/csv'],
      ['?format=csv', 'application/json'],
    ] as const) {
      const answer = await ask(path + query, { Accept: accept })
      assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8; header=present')
      assert.equal(answer.text, csv)
      assert.equal(answer.headers['x-total-count'], '3')
    }
    const ndjson = await ask(path, { Accept: 'application/x-ndjson, application/json;q=0.5' })
    assert.equal(ndjson.headers['content-type'], 'application/x-ndjson; charset=utf-8')
    assert.equal(ndjson.text, lines)
    const json = await ask(`${path}?format=json`, { Accept: 'text/csv' })
    assert.equal(json.headers['content-type'], 'application/json; charset=utf-8')
  }
})

test('one row in every format, also a blank one', async (t) => {
  const { ask, rowport } = await start(t)
  const sheet = await rowport.connectFile('gaps', 'gaps.csv', 'a,b\n1,x\n,\n3,z\n')
  for (const path of [sheet.formA, sheet.formB]) {
    assert.equal((await ask(`${path}/2?format=csv`)).text, 'a,b\r\n1,x\r\n')
    assert.equal((await ask(`${path}/3?format=csv`)).text, 'a,b\r\n,\r\n')
    assert.equal((await ask(`${path}/3?format=csv&fields=b`)).text, 'b\r\n""\r\n')
    assert.equal((await ask(`${path}/4?format=csv&fields=b&row_numbers=true`)).text, '_row,b\r\n4,z\r\n')
    assert.equal((await ask(`${path}/4?format=ndjson`)).text, '{"a":3,"b":"z"}\n')
    assert.equal(
      (await ask(`${path}/3?format=ndjson&fields=b,a&row_numbers=true`)).text,
      '{"_row":3,"b":null,"a":null}\n',
    )
  }
  assert.equal((await ask(`${sheet.formA}/4?values=formatted`)).text, '{"a":"3","b":"z"}')
  assert.equal((await ask(`${sheet.formA}/3?values=formatted&fields=b`)).text, '{"b":""}')
})

test('CSV that is connected as a file again gives the same rows', async (t) => {
  const { ask, sheet, rowport } = await start(t)
  const csv = await ask(`${sheet.formA}?format=csv`)
  const again = await rowport.connectFile('again', 'again.csv', csv.text)
  assert.equal((await ask(again.formA)).text, (await ask(sheet.formA)).text)
})

test('values=formatted: every cell as displayed, all strings, empty ones too', async (t) => {
  const { ask, sheet } = await start(t)
  assert.equal(
    (await ask(`${sheet.formA}?values=formatted&fields=price,in stock,note&limit=2`)).text,
    '[{"price":"420","in stock":"TRUE","note":"heavy, \\"solid\\""},{"price":"59.9","in stock":"FALSE","note":""}]',
  )
  assert.equal(
    (await ask(`${sheet.formA}?values=formatted&note[empty]=true&fields=name`)).text,
    '[{"name":"Lamp"}]',
  )
  const [typed, formatted] = [await ask(sheet.formA), await ask(`${sheet.formA}?values=formatted`)]
  assert.notEqual(typed.headers.etag, formatted.headers.etag)
})

test('answers are compressed when asked, and say so', async (t) => {
  const { ask, long } = await start(t)
  for (const path of [
    long.formA,
    long.formB,
    `${long.formA}?n[gte]=10`,
    `${long.formB}?format=csv`,
    `${long.formA}/2`,
  ]) {
    const plain = await ask(path)
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(plain.headers.vary, 'Accept, Accept-Encoding')
    assert.equal(plain.headers['content-length'], String(Buffer.byteLength(plain.text)))
    for (const [coding, decompress] of Object.entries(codings)) {
      const packed = await ask(path, { 'Accept-Encoding': coding })
      assert.equal(packed.headers['content-encoding'], coding, path)
      assert.equal(packed.headers.vary, 'Accept, Accept-Encoding')
      assert.equal(decompress(packed.bytes).toString(), plain.text, `${path} ${coding}`)
      assert.ok(packed.bytes.length < plain.text.length / 2)
      assert.equal(packed.headers['content-length'], String(packed.bytes.length))
      assert.equal(packed.headers['x-total-count'], plain.headers['x-total-count'])
      const again = await ask(path, { 'Accept-Encoding': coding })
      assert.deepEqual(again.bytes, packed.bytes)
    }
  }
})

test('short answers and errors are not compressed', async (t) => {
  const { ask, sheet } = await start(t)
  for (const path of [sheet.formA, `${sheet.formA}/2`, `${sheet.formA}?nothing=1`]) {
    const answer = await ask(path, { 'Accept-Encoding': 'gzip, br, zstd' })
    assert.equal(answer.headers['content-encoding'], undefined, path)
    JSON.parse(answer.text)
  }
})

test('each format and coding has a strong ETag of its own, and each saves its body', async (t) => {
  const { ask, long } = await start(t)
  const etags = new Set<string>()
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson'])
    for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
      const headers = { Accept: accept, 'Accept-Encoding': coding }
      const first = await ask(long.formA, headers)
      const etag = first.headers.etag ?? ''
      assert.match(etag, /^"[^"]+"$/)
      etags.add(etag)
      const again = await ask(long.formA, { ...headers, 'If-None-Match': etag })
      assert.equal(again.status, 304)
      assert.equal(again.headers.etag, etag)
      assert.equal(again.headers.vary, 'Accept, Accept-Encoding')
      assert.equal(again.text, '')
      assert.equal(
        (await ask(long.formB, { ...headers, 'If-None-Match': etag })).status,
        304,
        'in both forms',
      )
    }
  assert.equal(etags.size, 12)
  const [json = '', ...others] = etags
  for (const other of others) {
    assert.equal((await ask(long.formA, { 'If-None-Match': other })).status, 200, other)
  }
  const plainHeld = { 'If-None-Match': json, 'Accept-Encoding': 'gzip' }
  assert.equal((await ask(long.formA, plainHeld)).status, 304, 'what came uncompressed is still right')
})

test('HEAD tells what GET would, in every format and coding', async (t) => {
  const { ask, long, sheet } = await start(t)
  for (const path of [long.formA, sheet.formA]) await ask(path)
  for (const path of [
    long.formA,
    `${long.formB}?n[lt]=50`,
    `${long.formA}/2`,
    sheet.formB,
    `${sheet.formA}?format=csv`,
  ])
    for (const coding of ['identity', 'gzip', 'zstd']) {
      const get = await ask(path, { 'Accept-Encoding': coding })
      const head = await ask(path, { 'Accept-Encoding': coding }, 'HEAD')
      const { date: _, 'content-length': length, ...expected } = get.headers
      const { date: __, 'content-length': toldLength, ...told } = head.headers
      assert.deepEqual(told, expected, `${path} ${coding}`)
      // How long a compressed row is, nobody knows who has not compressed it.
      const isKnown = !path.endsWith('/2') || get.headers['content-encoding'] === undefined
      assert.equal(toldLength, isKnown ? length : undefined, `${path} ${coding}`)
      assert.equal(head.text, '')
    }
})

test('HEAD compresses nothing and makes no long body, and says of both what GET would', async (t) => {
  const { ask, rowport } = await start(t)
  const lines = Array.from({ length: 20_000 }, (_, n) => `${n},some words that come again`)
  const list = await rowport.connectFile('list', 'list.csv', `n,words\n${lines.join('\n')}\n`)
  for (const path of [list.formA, list.formB, `${list.formA}?format=csv`, `${list.formA}?n[gte]=5`]) {
    const head = await ask(path, { 'Accept-Encoding': 'gzip' }, 'HEAD')
    const bodies = rowport.seen.filter(({ event }) => event === 'snapshots_held').at(-1)
    assert.equal(bodies && 'bodyBytes' in bodies && bodies.bodyBytes, 0, path)
    const get = await ask(path, { 'Accept-Encoding': 'gzip' })
    for (const name of ['etag', 'content-encoding', 'vary', 'x-total-count', 'content-type'])
      assert.equal(head.headers[name], get.headers[name], `${path} ${name}`)
    assert.equal(head.headers['content-length'], undefined)
    assert.equal(get.headers['content-encoding'], 'gzip')
    rowport.clock.advanceMs(60_000)
    await writeFile(list.path, `n,words\n${path}\n${lines.join('\n')}\n`)
    await utimes(list.path, 1, rowport.seen.length)
  }
  const plain = await ask(list.formA, {}, 'HEAD')
  assert.equal(plain.headers['content-length'], String((await ask(list.formA)).text.length))
})

test('CSV for people: what a spreadsheet program would take for a formula is made text', async (t) => {
  const { ask, rowport } = await start(t)
  const cells = [
    `=cmd|' /C calc'!A0`,
    '@SUM(1)',
    '+1+1',
    '-2+3',
    '"\t=1"',
    '"\r=1"',
    '＝1',
    '-5',
    '"-5"',
    '"+1,234.5%"',
  ]
  const sheet = await rowport.connectFile(
    'feedback',
    'feedback.csv',
    `=name,n\n${cells.map((cell) => `${cell},1`).join('\n')}\nplain,2\n`,
  )
  const plain = (await ask(`${sheet.formA}?format=csv`)).text
  assert.ok(
    plain.startsWith('=name,n\r\n"=cmd|\' /C calc\'!A0",1\r\n@SUM(1),1\r\n'),
    'as it is, unless asked',
  )
  const escaped = await ask(`${sheet.formA}?format=csv&escape_formulas=true`)
  assert.equal(
    escaped.text,
    [
      "'=name,n",
      "\"'=cmd|' /C calc'!A0\",1",
      "'@SUM(1),1",
      "'+1+1,1",
      "'-2+3,1",
      `"'\t=1",1`,
      `"'\r=1",1`,
      "'＝1,1",
      '-5,1',
      '"-5",1',
      '"+1,234.5%",1',
      'plain,2',
      '',
    ].join('\r\n'),
  )
  const row = await ask(`${sheet.formA}/2?format=csv&escape_formulas=true`)
  assert.equal(row.text, "'=name,n\r\n\"'=cmd|' /C calc'!A0\",1\r\n")
  assert.equal((await ask(`${sheet.formA}?format=csv`)).text, plain, 'one is not kept as the other')
  assert.equal(
    (await ask(`${sheet.formA}?escape_formulas=true`)).text,
    (await ask(sheet.formA)).text,
    'JSON has no formulas',
  )
  const wrong = await ask(`${sheet.formA}?format=csv&escape_formulas=yes`)
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /\\"escape_formulas\\" must be \\"false\\" or \\"true\\"/)
})

test('a list is compressed once, however many ask, and counted in the memory for snapshots', async (t) => {
  const { ask, long, rowport } = await start(t)
  await Promise.all(Array.from({ length: 30 }, () => ask(long.formA, { 'Accept-Encoding': 'zstd' })))
  const held = rowport.seen.filter(({ event }) => event === 'snapshots_held')
  const grown = new Set(held.map((seen) => ('bodyBytes' in seen ? seen.bodyBytes : 0)))
  assert.equal(grown.size, 2, 'nothing, then one body')
  await ask(long.formA, { 'Accept-Encoding': 'zstd' })
  assert.equal(rowport.seen.filter(({ event }) => event === 'snapshots_held').length, held.length)
  const metrics = await (await rowport.get('/metrics')).text()
  assert.match(metrics, /rowport_snapshot_bytes\{kind="rows"\} [1-9]\d+/)
  assert.match(metrics, /rowport_snapshot_bytes\{kind="bodies"\} [1-9]\d+/)
  assert.match(metrics, /rowport_snapshots_dropped_total 0/)
})

test('a row of some hundred kilobytes is the same in every format and coding, and its ETag is that of a write', async (t) => {
  const { rowport, ask } = await start(t)
  const text = 'Straße, "Ж" и\u2028\t'.repeat(20_000)
  const sheet = await rowport.connectFile(
    'one',
    'one.csv',
    `text,n\n"${text.replaceAll('"', '""')}",5\nshort,6\n`,
  )
  const row = JSON.stringify({ text, n: 5 })
  const plain = await ask(`${sheet.formA}/2`)
  assert.ok(plain.text === row)
  assert.equal(JSON.parse((await ask(`${sheet.formB}/2`)).text).meta.row, 2)
  assert.deepEqual(JSON.parse((await ask(`${sheet.formB}/2`)).text).data, { text, n: 5 })
  assert.ok((await ask(`${sheet.formA}/2?format=ndjson`)).text === `${row}\n`)
  assert.ok(
    (await ask(`${sheet.formA}/2?format=csv`)).text === `text,n\r\n"${text.replaceAll('"', '""')}",5\r\n`,
  )
  assert.equal((await ask(`${sheet.formA}/2?fields=n`)).text, '{"n":5}')
  assert.ok((await ask(`${sheet.formA}/2?row_numbers=true`)).text === `{"_row":2,${row.slice(1)}`)
  for (const [coding, decompress] of Object.entries(codings)) {
    const { bytes, headers } = await ask(`${sheet.formA}/2`, { 'Accept-Encoding': coding })
    assert.equal(headers['content-encoding'], coding)
    assert.ok(decompress(bytes).toString() === row)
    assert.equal(
      (await ask(`${sheet.formA}/2`, { 'Accept-Encoding': coding }, 'HEAD')).headers.etag,
      headers.etag,
    )
  }
  const etag = plain.headers.etag ?? ''
  assert.equal((await ask(`${sheet.formA}/2`, { 'If-None-Match': etag })).status, 304)
  const key = await rowport.createKey({ scope: 'read-write' })
  const put = (ifMatch: string) =>
    fetch(`${rowport.url}${sheet.formA}/2`, {
      method: 'PATCH',
      headers: { ...bearer(key), 'Content-Type': 'application/json', 'If-Match': ifMatch },
      body: '{"n":7}',
    })
  assert.equal((await put('"another"')).status, 412)
  const written = await put(etag)
  assert.equal(written.status, 200, await written.text())
  assert.equal((await ask(`${sheet.formA}/2`)).headers.etag, written.headers.get('etag'))
})

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const lines = Array.from(
    { length: 200 },
    (_, n) => `${n},some words that come again,${'and again '.repeat(8)}`,
  )
  const long = await rowport.connectFile(
    'long',
    'long.csv',
    `n,words,more\n${'long '.repeat(300)},${'wide '.repeat(300)},x\n${lines.join('\n')}\n`,
  )
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    exchange(rowport.url + encodeURI(path), { ...bearer(key), ...headers }, method)
  return { rowport, sheet, long, ask }
}

interface Answer {
  status: number
  headers: Record<string, string | undefined>
  bytes: Buffer
  text: string
}

/** Not `fetch`: that asks for compression by itself, and undoes it. */
function exchange(url: string, headers: Record<string, string>, method: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asked = request(url, { headers, method, agent: false }, async (response) => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const told = response.headers as Answer['headers']
    resolve({ status: response.statusCode ?? 0, headers: told, bytes, text: bytes.toString() })
  })
  asked.on('error', reject)
  asked.end()
  return promise
}
