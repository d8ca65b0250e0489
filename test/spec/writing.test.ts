import assert from 'node:assert/strict'
import { chmod, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readXlsx, writeXlsx } from 'hucre/xlsx'
import { bearer, done, startRowport } from '../harness.ts'
import { holdWrites } from './held-writes.ts'

const products = 'name,price,in stock\nOak table,420,TRUE\nLamp,"59.90",\n,,\nChair,80,FALSE\n'

for (const method of ['PUT', 'PATCH'])
  test(`${method} changes the given columns of one row, and answers with the whole row`, async (t) => {
    const { sheet, ask } = await startWithSheet(t)
    const first = await ask(method, `${sheet.formA}/3`, '{"PRICE":60,"in stock":true}')
    assert.equal(first.status, 200)
    assert.equal(
      first.text,
      '{"success":true,"message":"Row 3 updated","row":3,"data":{"name":"Lamp","price":60,"in stock":true}}',
    )
    const second = await ask(method, `${sheet.formB}?row=3`, '{"in stock":null}')
    assert.equal(second.status, 200)
    assert.equal(
      second.text,
      '{"data":{"name":"Lamp","price":60,"in stock":null},"meta":{"row":3}}',
      'null empties a cell',
    )
    const text = products.replace('Lamp,"59.90",', 'Lamp,60,')
    assert.equal(await readFile(sheet.path, 'utf8'), text, 'everything else is as it was, to the byte')
  })

test('DELETE removes the row and tells what it held; rows below move up', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  const first = await ask('DELETE', `${sheet.formA}/2`)
  assert.equal(first.status, 200)
  assert.equal(
    first.text,
    '{"success":true,"message":"Row 2 deleted","row":2,"data":{"name":"Oak table","price":420,"in stock":true}}',
  )
  assert.equal((await ask('GET', `${sheet.formA}/2`)).json.name, 'Lamp')
  const second = await ask('DELETE', `${sheet.formB}?row=4`)
  assert.equal(second.status, 200)
  assert.equal(second.text, '{"data":{"name":"Chair","price":80,"in stock":false},"meta":{"row":4}}')
  // The blank row above is the last one no more: what is past the last row with data does not exist.
  assert.equal((await ask('GET', `${sheet.formA}/3`)).status, 404)
  assert.equal((await ask('GET', sheet.formA)).json.length, 1)
})

test('a blank row between others can be filled', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  assert.equal((await ask('PUT', `${sheet.formA}/4`, '{"name":"Shelf"}')).status, 200)
  assert.deepEqual(
    (await ask('GET', sheet.formA)).json.map(({ name }: { name: string }) => name),
    ['Oak table', 'Lamp', 'Shelf', 'Chair'],
  )
})

test('a row that is not there is 404, one that cannot be is 400', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const missing = await ask(method, `${sheet.formA}/6`, '{"name":"x"}')
    assert.deepEqual(
      [missing.status, missing.json],
      [404, { error: 'Row not found', code: 'row_not_found', details: 'The last row with data is 5.' }],
    )
    for (const path of [
      sheet.formA,
      `${sheet.formA}/1`,
      `${sheet.formA}/x`,
      `${sheet.formA}?row=0`,
      `${sheet.formA}/2?row=3`,
    ]) {
      const wrong = await ask(method, path, '{"name":"x"}')
      assert.equal(wrong.status, 400, `${method} ${path}`)
      assert.equal(wrong.json.code, 'invalid_row_number')
    }
  }
  const added = await ask('POST', `${sheet.formA}?row=3`, '{"name":"x"}')
  assert.deepEqual([added.status, added.json.code], [400, 'invalid_row_number'])
  assert.match(added.json.details, /POST adds rows after the last one/)
  assert.equal(await readFile(sheet.path, 'utf8'), products)
})

test('a body that cannot be kept leaves the row alone, and says why', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  for (const [body, details] of [
    ['{', /not valid JSON/],
    ['[{"name":"x"}]', /You can only update one row at a time/],
    ['{}', /empty object/],
    ['{"_row":2}', /names no column/],
    ['{"nmae":"x"}', /Did you mean "name"/],
    ['{"name":"a","Name":"b"}', /both name the column/],
    ['{"name":{"a":1}}', /nested/],
    ['{"price":0.30000000000000004}', /15 digits/],
  ] as const) {
    const answer = await ask('PUT', `${sheet.formA}/2`, body)
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_body'], body)
    assert.match(answer.json.details, details)
  }
  assert.equal(await readFile(sheet.path, 'utf8'), products)
})

test('If-Match: the row must be the one that was read', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  const { headers } = await ask('GET', `${sheet.formA}/2`)
  const etag = headers.get('etag') ?? ''
  const changed = await ask('PUT', `${sheet.formB}/2`, '{"price":421}', { 'If-Match': etag })
  assert.equal(changed.status, 200)
  const now = changed.headers.get('etag') ?? ''
  assert.equal(now, (await ask('GET', `${sheet.formA}/2`)).headers.get('etag'), 'the ETag of the new row')
  assert.notEqual(now, etag)
  for (const [method, ifMatch] of [
    ['PUT', etag],
    ['DELETE', etag],
    ['PATCH', `W/${now}`],
    ['DELETE', '"other", "another"'],
    ['DELETE', ''],
  ] as const) {
    const refused = await ask(method, `${sheet.formA}/2`, '{"price":1}', { 'If-Match': ifMatch })
    assert.deepEqual(
      [refused.status, refused.json.code],
      [412, 'precondition_failed'],
      `${method} ${ifMatch}`,
    )
  }
  assert.equal((await ask('PUT', `${sheet.formA}/2`, '{"price":5}', { 'If-Match': '*' })).status, 200)
  const added = await ask('POST', sheet.formA, '{"name":"new"}')
  const ofAdded = added.headers.get('etag') ?? ''
  assert.equal(ofAdded, (await ask('GET', `${sheet.formA}/6`)).headers.get('etag'))
  assert.equal((await ask('DELETE', `${sheet.formA}/6`, null, { 'If-Match': `"x", ${ofAdded}` })).status, 200)
})

test('50 clients that each change a row they have read: exactly one of each round gets through', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  for (let round = 0; round < 3; round++) {
    const etag = (await ask('GET', `${sheet.formA}/2`)).headers.get('etag') ?? ''
    // While the first are at work the others gather, so that they go together.
    const before = Array.from({ length: 10 }, () => ask('PUT', `${sheet.formA}/3`, '{"price":1}'))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        ask('PUT', `${sheet.formA}/2`, JSON.stringify({ price: round * 100 + n }), { 'If-Match': etag }),
      ),
    )
    await Promise.all(before)
    const through = answers.filter(({ status }) => status === 200)
    assert.equal(through.length, 1)
    assert.equal(answers.filter(({ status }) => status === 412).length, 49)
    assert.deepEqual((await ask('GET', `${sheet.formA}/2`)).json, through[0]?.json.data)
  }
})

test('updates and deletions at once each get their own row, in some order', async (t) => {
  const { rowport, ask } = await startWithSheet(t)
  const rows = Array.from({ length: 40 }, (_, n) => `row ${n},${n},\n`).join('')
  const sheet = await rowport.connectFile('many', 'many.csv', `name,price,in stock\n${rows}`)
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => ask('PUT', `${sheet.formA}/${n + 2}`, `{"price":${1_000 + n}}`)),
    ...Array.from({ length: 10 }, () => ask('DELETE', `${sheet.formA}/41`)),
    ...Array.from({ length: 10 }, (_, n) => ask('POST', sheet.formA, `{"name":"new ${n}"}`)),
  ])
  const list = (await ask('GET', sheet.formA)).json as { name: string; price: number | null }[]
  for (const { status, json } of answers.slice(0, 20)) {
    assert.equal(status, 200)
    assert.deepEqual(
      list.filter(({ name }) => name === json.data.name),
      [json.data],
    )
  }
  const deleted = answers.slice(20, 30).filter(({ status }) => status === 200)
  for (const { json } of deleted) assert.ok(!list.some(({ name }) => name === json.data.name))
  assert.equal(new Set(deleted.map(({ json }) => json.data.name)).size, deleted.length)
  assert.equal(list.length, 50 - deleted.length)
  assert.equal(answers.slice(30).filter(({ status }) => status === 201).length, 10)
})

test('a read after a write shows it, however long the sheet may be kept', async (t) => {
  const { rowport, sheet, ask } = await startWithSheet(t)
  done(await rowport.workshop.sheets.change('acme', 'products', { cacheSeconds: 3_600 }))
  for (let n = 0; n < 20; n++) {
    await ask('PUT', `${sheet.formA}/2`, JSON.stringify({ price: n }))
    assert.equal((await ask('GET', `${sheet.formB}/2`)).json.data.price, n)
  }
  await ask('DELETE', `${sheet.formA}/2`)
  assert.equal((await ask('GET', sheet.formA)).json[0].name, 'Lamp')
  assert.equal((await ask('GET', sheet.formA)).headers.get('cache-status'), 'rowport; hit')
})

test('a key that is revoked, or a sheet that is paused, while a write waits: nothing is written', async (t) => {
  const { rowport, sheet, ask } = await startWithSheet(t)
  const { revoke } = rowport.workshop.keys
  const { setPaused } = rowport.workshop.sheets
  const other = await rowport.createKey()
  for (const [name, change, status, code] of [
    ['revoked', () => revoke(other.id), 403, 'invalid_api_key'],
    ['paused', () => setPaused('acme', 'products', true), 503, 'sheet_paused'],
  ] as const) {
    const { isHeld, release } = holdWrites(rowport)
    const before = ask('DELETE', `${sheet.formA}/2`)
    await isHeld
    const headers = name === 'revoked' ? bearer(other) : {}
    const waiting = Array.from({ length: 5 }, (_, n) =>
      ask('POST', sheet.formA, `{"name":"${name} ${n}"}`, { ...headers, 'Idempotency-Key': `${name}-${n}` }),
    )
    // Whoever has claimed a key was let in.
    while ((await rowport.workshop.store.unfinishedOperations()).length < 5) await turnOfTheLoop()
    done(await change())
    release()
    // Whoever may no longer write may not finish what is not sent yet either.
    assert.equal((await before).status, name === 'revoked' ? 200 : status)
    for (const answer of await Promise.all(waiting)) {
      assert.deepEqual([answer.status, answer.json.code], [status, code])
    }
    assert.ok(!(await readFile(sheet.path, 'utf8')).includes(name))
  }
})

test('a client that hangs up does not call its write back', async (t) => {
  const { rowport, sheet, key } = await startWithSheet(t)
  const { isHeld, release } = holdWrites(rowport)
  const leaving = new AbortController()
  const asked = fetch(`${rowport.url}${sheet.formA}/2`, {
    method: 'PUT',
    headers: bearer(key),
    body: '{"name":"left behind"}',
    signal: leaving.signal,
  })
  await isHeld
  leaving.abort()
  await assert.rejects(asked)
  // By the time that these are answered, it has been seen to be gone.
  for (const _ of [1, 2]) assert.equal((await rowport.get('/healthz')).status, 200)
  release()
  while (!(await readFile(sheet.path, 'utf8')).includes('left behind')) await turnOfTheLoop()
})

test('a workbook: rows are added, changed and deleted, and its other tab and formats stay', async (t) => {
  const { rowport, ask } = await startWithSheet(t)
  const bytes = await writeXlsx({
    sheets: [
      {
        name: 'Stock',
        rows: [
          ['name', 'price'],
          ['Oak', 420],
          ['Lamp', 59.9],
        ],
      },
      { name: 'Notes', rows: [['keep', 'me']] },
    ],
  })
  const sheet = await rowport.connectFile('book', 'book.xlsx', bytes)
  const added = await ask('POST', sheet.formA, '[{"name":"=1+1","price":7},{"name":"007"}]')
  assert.deepEqual(added.json.rows, [
    { _row: 4, name: '=1+1', price: 7 },
    { _row: 5, name: '007', price: null },
  ])
  assert.deepEqual((await ask('PUT', `${sheet.formA}/2`, '{"price":"0050"}')).json.data, {
    name: 'Oak',
    price: '0050',
  })
  assert.deepEqual((await ask('DELETE', `${sheet.formA}/3`)).json.data, { name: 'Lamp', price: 59.9 })
  assert.deepEqual((await ask('GET', sheet.formA)).json, [
    { name: 'Oak', price: '0050' },
    { name: '=1+1', price: 7 },
    { name: '007', price: null },
  ])
  const { sheets } = await readXlsx(await readFile(sheet.path))
  assert.deepEqual(
    sheets.map(({ name }) => name),
    ['Stock', 'Notes'],
  )
  assert.deepEqual(sheets[1]?.rows, [['keep', 'me']])
})

test('a folder that may not be written to is 502 with words that help, and the row stays', async (t) => {
  const { rowport, sheet, ask } = await startWithSheet(t)
  const isRoot = process.geteuid?.() === 0
  await chmod(sheet.path, 0o444)
  await chmod(dirname(sheet.path), 0o555)
  if (isRoot) process.seteuid?.(65_534)
  try {
    for (const [method, action] of [
      ['PUT', 'update to'],
      ['DELETE', 'delete from'],
    ] as const) {
      const answer = await ask(method, `${sheet.formA}/2`, '{"name":"x"}')
      assert.deepEqual([answer.status, answer.json.code], [502, 'google_api_error'])
      assert.match(
        answer.json.error,
        new RegExp(`^Failed to ${action} sheet: Rowport is not allowed to write`),
      )
    }
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(rowport.folder, 0o755)
  }
  assert.equal(await readFile(sheet.path, 'utf8'), products)
})

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

async function startWithSheet(t: TestContext) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()
  async function ask(
    method: string,
    path: string,
    body: string | null = null,
    headers: Record<string, string> = {},
  ) {
    const hasBody = body !== null && method !== 'GET'
    const answer = await fetch(rowport.url + path, {
      method,
      headers: { ...bearer(key), ...headers },
      ...(hasBody && { body }),
    })
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: the test says what must be in it
    return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) as any }
  }
  return { rowport, sheet, key, ask }
}
