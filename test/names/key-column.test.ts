import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { Problem } from '../../src/management/problem.ts'
import { bearer, done, startRowport } from '../harness.ts'

const stock = ['sku,name,price', 'A-1,Lamp,59.9', 'a-2,Table,420', '7,Shelf,99'].join('\n')

test('a key column is refused while it has blanks or repeats, and the answer names the rows', async (t) => {
  const { rowport, set } = await start(t, 'sku,name\nA,x\n,y\na,z\n7,\n"7",w\nB,v')
  const refused = await set({ keyColumn: 'SKU' })
  assert.ok(refused instanceof Problem)
  assert.equal(
    refused.message,
    '"sku" cannot name the rows: row 3 has no value there, and rows 2, 4, 5, 6 have a value that another row has too',
  )
  assert.equal(refused.facts.field, 'keyColumn')
  const unknown = await set({ keyColumn: 'nothing' })
  assert.ok(unknown instanceof Problem)
  assert.match(unknown.message, /no column "nothing"; there are "sku", "name"/)
  for (const change of [{ autoKey: 'uuid' }, { keyColumn: null, autoKey: 'uuid' }] as const) {
    const without = await set(change)
    assert.ok(without instanceof Problem)
    assert.match(without.message, /this sheet has none: choose one first/)
  }
  await writeFile(`${rowport.folder}/stock.csv`, 'Sku,name\n1,x\n2,y')
  const sheet = done(await set({ keyColumn: 'sku', autoKey: 'uuid' }))
  assert.deepEqual([sheet.keyColumn, sheet.autoKey], ['Sku', 'uuid'])
  assert.equal(done(await set({ keyColumn: null })).keyColumn, null)
})

test('additions need a key, and no key is there twice', async (t) => {
  const { send, set, formA, formB } = await start(t)
  done(await set({ keyColumn: 'sku' }))
  const cases: [
    method: string,
    path: string,
    body: unknown,
    status: number,
    code: string,
    details: RegExp,
  ][] = [
    ['POST', '', { name: 'x' }, 400, 'invalid_body', /The row lacks a value for the key column "sku"/],
    ['POST', '', [{ sku: 'N' }, { sku: '', name: 'x' }], 400, 'invalid_body', /Row 2 of the array lacks/],
    ['POST', '', { sku: 'a-1' }, 409, 'row_exists', /"a-1" is in row 2/],
    ['POST', '', [{ sku: 'N' }, { sku: 7 }], 409, 'row_exists', /7 is in row 4/],
    ['POST', '', [{ sku: 'N' }, { sku: 'n' }], 409, 'row_exists', /twice after this request/],
    ['POST', '?upsert=name', { name: 'New' }, 400, 'invalid_body', /lacks a value for the key column/],
    ['POST', '?upsert=name', { name: 'Lamp', sku: 'A-2' }, 409, 'row_exists', /"A-2" is in row 3/],
    ['PUT', '/2', { sku: 'A-2' }, 409, 'row_exists', /row 3/],
    ['PUT', '/by/sku/A-1', { sku: null }, 400, 'invalid_body', /must not be emptied/],
    ['PATCH', '?price[gt]=90', { sku: 'X' }, 409, 'row_exists', /twice/],
  ]
  for (const [method, path, body, status, code, details] of cases) {
    for (const [form, error] of [
      [formA, (json: Json) => json],
      [formB, (json: Json) => ({ ...json.error })],
    ] as const) {
      const answer = await send(method, form + path, body)
      assert.deepEqual(
        [answer.status, error(answer.json).code],
        [status, code],
        method + path + JSON.stringify(body),
      )
      assert.match(error(answer.json).details, details)
    }
  }
  assert.equal(
    (await send('PUT', `${formA}/by/sku/A-1`, { sku: 'a-1', price: 1 })).status,
    200,
    'its own key',
  )
  const swap = [
    { name: 'Lamp', sku: 'a-2' },
    { name: 'Table', sku: 'A-1' },
  ]
  assert.equal(
    (await send('POST', `${formA}?upsert=name`, swap)).status,
    200,
    'each gives its key to the other',
  )
  assert.equal((await send('PATCH', `${formA}?name=Shelf`, { sku: 8 })).status, 200)
  done(await set({ autoKey: 'uuid' }))
  const made = await send('POST', formA, [{ name: 'x' }, { name: 'y', sku: 'own' }])
  assert.match(made.json.rows[0].sku, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(made.json.rows[1].sku, 'own')
  done(await set({ keyColumn: null }))
  assert.equal((await send('POST', formA, { sku: 'own' })).status, 201, 'off again')
})

test('of many additions of one key at the same moment, one is made', async (t) => {
  const { send, set, get, formA } = await start(t)
  done(await set({ keyColumn: 'sku' }))
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      send('POST', n % 2 ? formA : `${formA}?upsert=sku`, { sku: `N-${n % 6}`, name: `${n}` }),
    ),
  )
  const made = answers.filter(({ json }) => json.rows_added === 1).length
  const rows = (await get(formA)).json.filter(({ sku }: { sku: string }) => String(sku).startsWith('N-'))
  assert.deepEqual([made, rows.length, new Set(rows.map(({ sku }: { sku: string }) => sku)).size], [6, 6, 6])
  assert.ok(answers.every(({ status }) => [200, 201, 409].includes(status)))
})

test('what people type is served, and whoever reads is told', async (t) => {
  const { rowport, get, send, set, formA, formB } = await start(t)
  done(await set({ keyColumn: 'sku' }))
  assert.deepEqual((await get(formA)).warning, null)
  assert.equal((await get(`${formB}`)).json.meta.warnings, undefined)
  const schema = (await get(`${formA}/schema`)).json
  assert.equal(schema['x-key'], 'sku')
  assert.equal((await get(`${formA}/openapi.json`)).json.components.schemas.Row['x-key'], 'sku')
  await writeFile(`${rowport.folder}/stock.csv`, `${stock}\nA-1,Copy,1\n,Nameless,2`)
  rowport.clock.advanceMs(60_000)
  const words = 'Rows without a key: 6. Rows with a key that another row has too: 2, 5.'
  assert.equal((await get(formA)).warning, words)
  const nested = await get(`${formB}?limit=1`)
  assert.deepEqual([nested.warning, nested.json.meta.warnings], [words, [words]])
  const row = await get(`${formB}/3`)
  assert.deepEqual([row.warning, row.json.meta.warnings], [words, [words]])
  assert.equal((await get(`${formA}/by/sku/A-1`)).json.code, 'ambiguous_row')
  assert.equal((await get(`${formA}/by/sku/A-2`)).json.name, 'Table')
  assert.equal((await send('DELETE', `${formA}/by/sku/A-1`, null)).json.code, 'ambiguous_row')
  await writeFile(`${rowport.folder}/stock.csv`, 'code,name\n1,x')
  rowport.clock.advanceMs(60_000)
  assert.equal((await get(formA)).warning, 'The key column of this sheet is no longer in row 1.')
  assert.match(
    (await send('POST', formA, { name: 'y' })).json.details,
    /key column "sku" is no longer in row 1/,
  )
})

test('while the key column is gone from row 1, what does not need it works, and it is not described', async (t) => {
  const { rowport, get, send, set, formA, formB } = await start(t)
  done(await set({ keyColumn: 'sku' }))
  await writeFile(`${rowport.folder}/stock.csv`, 'code,name,price\n1,x,5\n2,y,6\n3,z,7')
  rowport.clock.advanceMs(60_000)
  const works: [method: string, path: string, body: unknown][] = [
    ['PATCH', '/2', { price: 9 }],
    ['PUT', '/by/name/y', { price: 10 }],
    ['PATCH', '?price[gte]=9', { name: 'n' }],
    ['POST', '?upsert=code', { code: 1, price: 11 }],
    ['DELETE', '/by/code/3', null],
  ]
  for (const [method, path, body] of works) {
    const answer = await send(method, formA + path, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.json)}`)
  }
  for (const [path, body] of [
    ['', { code: 9 }],
    ['?upsert=code', [{ code: 1, price: 12 }, { code: 9 }]],
  ] as const) {
    const refused = await send('POST', formA + path, body)
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_body'], 'a new row needs a key')
  }
  assert.deepEqual((await get(formA)).json, [
    { code: 1, name: 'n', price: 11 },
    { code: 2, name: 'n', price: 10 },
  ])
  for (const form of [formA, formB]) {
    assert.equal((await get(`${form}/schema`)).json['x-key'], undefined)
    const { paths, components } = (await get(`${form}/openapi.json`)).json
    assert.equal(components.schemas.Row['x-key'], undefined)
    assert.deepEqual(Object.keys(paths), [form, `${form}/{row}`, `${form}/changes`])
  }
  await writeFile(`${rowport.folder}/stock.csv`, 'SKU,name\n1,x')
  rowport.clock.advanceMs(60_000)
  assert.equal((await get(`${formA}/schema`)).json['x-key'], 'SKU', 'as row 1 has it now')
})

// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test asserts.
type Json = any

async function start(t: TestContext, csv = stock) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('stock', 'stock.csv', csv)
  const headers = bearer(await rowport.createKey())
  const answerOf = async (answer: Response) => ({
    status: answer.status,
    json: (await answer.json()) as Json,
    warning: answer.headers.get('x-rowport-warning'),
  })
  return {
    ...sheet,
    rowport,
    set: (change: { keyColumn?: string | null; autoKey?: 'uuid' | 'none' }) =>
      rowport.workshop.sheets.change('acme', 'stock', change),
    get: async (path: string) => answerOf(await rowport.get(path, headers)),
    send: async (method: string, path: string, body: unknown) =>
      answerOf(
        await fetch(rowport.url + path, {
          method,
          headers,
          ...(body === null ? {} : { body: JSON.stringify(body) }),
        }),
      ),
  }
}
