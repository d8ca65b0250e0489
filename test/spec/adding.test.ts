import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, type ConnectedSheet, done, startRowport } from '../harness.ts'
import { holdWrites } from './held-writes.ts'

const products = 'name,price,in stock\nOak table,420,TRUE\n'

test('POST adds one row after the last, tells its number, and the next read shows it', async (t) => {
  const { rowport, sheet, post, key } = await startWithSheet(t)
  await rowport.get(sheet.formA, bearer(key))
  const answer = await post(sheet.formA, '{"price":59.9,"NAME ":"Lamp"}')
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('location'), `${sheet.formA}/3`)
  assert.equal(
    await answer.text(),
    '{"success":true,"message":"1 row(s) added","rows_added":1,"rows":[{"_row":3,"name":"Lamp","price":59.9,"in stock":null}]}',
  )
  const list = await rowport.get(sheet.formA, bearer(key))
  assert.deepEqual(await list.json(), [
    { name: 'Oak table', price: 420, 'in stock': true },
    { name: 'Lamp', price: 59.9, 'in stock': null },
  ])
  assert.equal(await readFile(sheet.path, 'utf8'), `${products}Lamp,59.9,\n`)
})

test('POST adds an array of rows together, in order; Form B wraps the same facts', async (t) => {
  const { sheet, post } = await startWithSheet(t)
  const answer = await post(sheet.formB, '[{"name":"a"},{"name":"b","_row":99}]')
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('location'), null)
  assert.deepEqual(await answer.json(), {
    data: [
      { _row: 3, name: 'a', price: null, 'in stock': null },
      { _row: 4, name: 'b', price: null, 'in stock': null },
    ],
    meta: { rows_added: 2, rows: [3, 4] },
  })
})

test('what is written is what is read: text never becomes a number, a date, a boolean or a formula', async (t) => {
  const { rowport, sheet, post, key } = await startWithSheet(t)
  const texts = [
    '007',
    'TRUE',
    '=1+1',
    '1e5',
    ' spaced ',
    'a,b;c\td',
    'say "hi"',
    'two\nlines',
    '42',
    '-',
    'ünïcødé 😀',
  ]
  const rows = texts.map((name) => ({ name, price: 1.5, 'in stock': false }))
  assert.equal((await post(sheet.formA, JSON.stringify(rows))).status, 201)
  const list = (await (await rowport.get(sheet.formA, bearer(key))).json()) as object[]
  assert.deepEqual(list.slice(1), rows)
})

test('two sheets on one file: a write through one is read through the other at once', async (t) => {
  const { rowport, sheet, post, key } = await startWithSheet(t)
  const twin = await rowport.connectFile('twin', 'products.csv', products)
  await rowport.get(twin.formA, bearer(key))
  assert.equal((await post(sheet.formA, '{"name":"x"}')).status, 201)
  const list = (await (await rowport.get(twin.formA, bearer(key))).json()) as object[]
  assert.equal(list.length, 2)
})

test('100 concurrent POSTs: each row is there once, each was told its own number', async (t) => {
  const { rowport, sheet, post, key } = await startWithSheet(t)
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => post(sheet.formA, JSON.stringify({ name: `row ${n}` }))),
  )
  const told = new Map<number, string>()
  for (const answer of answers) {
    assert.equal(answer.status, 201)
    const { rows } = (await answer.json()) as { rows: { _row: number; name: string }[] }
    for (const row of rows) told.set(row._row, row.name)
  }
  assert.equal(told.size, 100)
  const list = (await (await rowport.get(`${sheet.formA}?row_numbers=true`, bearer(key))).json()) as {
    _row: number
    name: string
  }[]
  assert.deepEqual(
    new Map(list.slice(1).map((row) => [row._row, row.name])),
    new Map([...told].sort(([a], [b]) => a - b)),
  )
})

test('a queue of writes that would take too long is refused, and says when to come again', async (t) => {
  const { rowport, sheet, post } = await startWithSheet(t)
  const { isHeld, release } = holdWrites(rowport)
  const first = post(sheet.formA, '{"name":"x"}')
  await isHeld
  // While it is being written, 200 may wait: the others are refused at once, so these are all that are answered.
  const refusedWhileHeld = Promise.withResolvers<void>()
  let answeredCount = 0
  const others = Array.from({ length: 300 }, async () => {
    const answer = await post(sheet.formA, '{"name":"x"}')
    if (++answeredCount === 100) refusedWhileHeld.resolve()
    return answer
  })
  await refusedWhileHeld.promise
  release()
  const answers = await Promise.all([first, ...others])
  const refused = answers.filter(({ status }) => status === 503)
  const added = answers.filter(({ status }) => status === 201).length
  assert.deepEqual({ added, refused: refused.length }, { added: 201, refused: 100 })
  for (const answer of refused) {
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.match(await answer.text(), /Too many writes are waiting for this spreadsheet/)
  }
  assert.equal((await readFile(sheet.path, 'utf8')).split('x,,').length - 1, added)
  assert.equal(rowport.seen.filter(({ event }) => event === 'malfunction').length, 0)
})

test('a write to a file that is gone is 502, and reported once', async (t) => {
  const { rowport, sheet, post } = await startWithSheet(t)
  await rm(sheet.path)
  const answer = await post(sheet.formA, '{"name":"x"}')
  assert.equal(answer.status, 502)
  assert.match(await answer.text(), /Failed to write to sheet: the file is missing/)
  assert.equal(rowport.seen.filter(({ event }) => event === 'provider_failed').length, 1)
})

test('an outside edit just before a write is kept', async (t) => {
  const { sheet, post } = await startWithSheet(t)
  await writeFile(sheet.path, `${products}Edited outside,1,TRUE\n`)
  const answer = await post(sheet.formA, '{"name":"ours"}')
  const { rows } = (await answer.json()) as { rows: { _row: number }[] }
  assert.equal(rows[0]?._row, 4)
  assert.equal(await readFile(sheet.path, 'utf8'), `${products}Edited outside,1,TRUE\nours,,\n`)
})

test('a column without a header that was put in between is seen, though every row reads as before', async (t) => {
  const { rowport, key } = await startWithSheet(t)
  const sheet = await rowport.connectFile('moved', 'moved.csv', 'a,b\n1,2\n')
  await rowport.get(sheet.formA, bearer(key))
  await writeFile(sheet.path, 'a,,b\n1,,2\n')
  await rowport.get(sheet.formA, { ...bearer(key), 'Cache-Control': 'no-cache' })
  const answer = await fetch(rowport.url + sheet.formA, {
    method: 'POST',
    headers: bearer(key),
    body: '{"b":5}',
  })
  assert.equal(answer.status, 201)
  assert.equal(await readFile(sheet.path, 'utf8'), 'a,,b\n1,,2\n,,5\n')
})

test('a body that cannot be kept is refused whole, and says why', async (t) => {
  const { sheet, post } = await startWithSheet(t)
  const cases: [body: string, details: RegExp][] = [
    ['', /not valid JSON/],
    ['{', /not valid JSON/],
    ['5', /not an object/],
    ['[]', /no rows/],
    ['{}', /empty object/],
    ['[{"name":"a"},5]', /Row 2 of the array is not an object/],
    ['{"name":null,"price":""}', /at least one cell/],
    ['{"nam":"x"}', /Unknown field "nam"\. Did you mean "name"\?/],
    ['{"colour":"x"}', /The columns are "name", "price", "in stock"\./],
    ['{"name":"a","NAME":"b"}', /both name the column "name"/],
    ['{"name":["a"]}', /nested/],
    ['{"price":1e400}', /too large/],
    ['{"price":12345678901234567890}', /12345678901234567890 cannot be kept exactly/],
    ['{"price":0.30000000000000004}', /15 digits/],
    ['{"name":"\\ud800"}', /Unicode/],
    [`{"name":"${'x'.repeat(50_001)}"}`, /50000 characters/],
  ]
  for (const [body, details] of cases) {
    const answer = await post(sheet.formA, body)
    assert.equal(answer.status, 400, body.slice(0, 50))
    const said = (await answer.json()) as { error: string; code: string; details: string }
    assert.equal(said.code, 'invalid_body')
    assert.equal(said.error, 'Invalid request body. Expected a JSON object or array of objects.')
    assert.match(said.details, details)
  }
  assert.equal(await readFile(sheet.path, 'utf8'), products, 'nothing was written')
})

test('a sheet that ignores unknown fields adds the row without them', async (t) => {
  const { rowport, sheet, post } = await startWithSheet(t)
  done(await rowport.workshop.sheets.change('acme', 'products', { unknownFields: 'ignore' }))
  const answer = await post(sheet.formA, '{"name":"Lamp","colour":"red"}')
  assert.equal(answer.status, 201)
  assert.equal(await readFile(sheet.path, 'utf8'), `${products}Lamp,,\n`)
  assert.equal((await post(sheet.formA, '{"colour":"red"}')).status, 400, 'nothing is left of it')
})

test('too much at once is 413: over 1,000 rows, over 2 MiB', async (t) => {
  const { sheet, post } = await startWithSheet(t)
  const rows = JSON.stringify(Array.from({ length: 1_001 }, () => ({ name: 'x' })))
  for (const body of [rows, `{"name":"${'x'.repeat(2 * 1024 * 1024)}"}`]) {
    const answer = await post(sheet.formB, body)
    assert.equal(answer.status, 413)
    assert.match(await answer.text(), /"payload_too_large"/)
  }
})

test('who may write: plan first, then scope', async (t) => {
  const { rowport, sheet, post } = await startWithSheet(t)
  const reader = await rowport.createKey({ scope: 'read' })
  const refused = await fetch(rowport.url + sheet.formA, {
    method: 'POST',
    headers: bearer(reader),
    body: '{"name":"x"}',
  })
  assert.equal(refused.status, 403)
  assert.deepEqual(await refused.json(), {
    error: "This API key doesn't have permission. Required scope: read-write.",
    code: 'insufficient_scope',
  })
  done(
    await rowport.workshop.accounts.setPlan('acme', 'free', {
      requestsPerMinute: null,
      requestsPerMonth: null,
    }),
  )
  const answer = await post(sheet.formA, '{"name":"x"}')
  assert.equal(answer.status, 403)
  assert.deepEqual(await answer.json(), {
    error: 'Write API is not enabled for your plan. Please upgrade to Pro or higher.',
    code: 'write_api_not_enabled',
  })
})

async function startWithSheet(t: TestContext) {
  const rowport = await startRowport(t)
  const sheet: ConnectedSheet = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()
  const post = (path: string, body: string) =>
    fetch(rowport.url + path, { method: 'POST', headers: bearer(key), body })
  return { rowport, sheet, post, key }
}
