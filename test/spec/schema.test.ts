import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'
import { processorMs } from '../processor-time.ts'
import { type Json, problemsWith } from './schema-validator.ts'

const products = [
  'name,price,count,in stock,sold on,at,opens,mixed,2024,__proto__,empty',
  'Oak table,420.5,1,TRUE,2026-11-15,2026-11-15T09:30:00,09:30:00,1,a,b,',
  'Lamp,59,2,FALSE,2026-11-16,,23:00:00,"x",c,d,',
  ',1,3,TRUE,,,,TRUE,e,f,',
].join('\n')

test('the schema tells types, empty cells, formats and the order of columns', async (t) => {
  const { get, sheet } = await start(t)
  const answer = await get(`${sheet.formA}/schema`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/schema+json')
  const text = await answer.text()
  const schema = JSON.parse(text) as { [key: string]: Json } & { properties: { [key: string]: Json } }
  assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema')
  assert.equal(schema.title, `A row of ${sheet.formA}`)
  const keys = [
    'name',
    'price',
    'count',
    'in stock',
    'sold on',
    'at',
    'opens',
    'mixed',
    '2024',
    '__proto__',
    'empty',
  ]
  assert.deepEqual(schema.required, keys)
  assert.equal(schema.additionalProperties, false)
  const places = keys.map((key) => text.search(new RegExp(`${JSON.stringify(key)}:\\{"(?:type|anyOf)"`)))
  assert.ok(
    places.every((place, at) => place > (places[at - 1] ?? 0)),
    'also where JavaScript would reorder them',
  )
  const shapes = Object.fromEntries(
    Object.entries(schema.properties).map(([key, value]) => {
      const { type, anyOf, format, pattern } = value as { [keyword: string]: Json } & {
        anyOf?: { type: Json }[]
      }
      const types = anyOf ? anyOf.map((one) => one.type) : type
      return [key, format === undefined && pattern === undefined ? types : [types, format ?? pattern]]
    }),
  )
  assert.deepEqual(shapes.name, ['string', 'null'])
  assert.equal(shapes.price, 'number')
  assert.equal(shapes.count, 'integer')
  assert.equal(shapes['in stock'], 'boolean')
  assert.deepEqual(shapes['sold on'], [['string', 'null'], 'date'])
  assert.deepEqual(shapes.at, [
    ['string', 'null'],
    '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$',
  ])
  assert.deepEqual(shapes.opens, [['string', 'null'], '^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?$'])
  assert.deepEqual(shapes.mixed, ['integer', 'boolean', 'string'])
  assert.deepEqual(shapes.empty, ['string', 'number', 'boolean', 'null'], 'nothing is known of it')
  assert.match(text, /"price":\{"type":"number","examples":\[420\.5,59,1\]\}/)
})

test('every row of a sheet fits its schema, typed and as displayed, in both forms', async (t) => {
  const { get, sheet } = await start(t)
  for (const path of [sheet.formA, sheet.formB])
    for (const query of ['', '?values=formatted', '?row_numbers=true']) {
      const schema = (await (await get(`${path}/schema${query}`)).json()) as Json
      const body = (await (await get(path + query)).json()) as Json[] | { data: Json[] }
      const rows = Array.isArray(body) ? body : body.data
      assert.equal(rows.length, 3)
      for (const row of rows) assert.deepEqual(problemsWith(row, schema, schema), [], `${path}${query}`)
      assert.notDeepEqual(problemsWith({ ...(rows[0] as object), more: 1 }, schema, schema), [])
      assert.notDeepEqual(problemsWith({ name: 'x' }, schema, schema), [])
    }
})

test('a description is a read: the same callers, the same refusals, the same freshness', async (t) => {
  const { get, sheet, rowport } = await start(t)
  for (const path of ['schema', 'openapi.json'])
    for (const base of [sheet.formA, sheet.formB]) {
      assert.equal((await rowport.get(`${base}/${path}`)).status, 401)
      assert.equal((await rowport.get(`${base}/${path}`, { 'X-API-Key': 'nonsense' })).status, 403)
      const first = await get(`${base}/${path}`)
      const etag = first.headers.get('etag') ?? ''
      assert.equal(first.headers.get('cache-status')?.startsWith('rowport; '), true)
      await first.text()
      assert.equal((await get(`${base}/${path}`, { 'If-None-Match': etag })).status, 304)
      const wrong = await get(`${base}/${path}?limit=1`)
      assert.equal(wrong.status, 400)
      const head = await fetch(`${rowport.url}${base}/${path}`, {
        method: 'HEAD',
        headers: await auth(rowport),
      })
      assert.equal(head.status, 200)
      const post = await fetch(`${rowport.url}${base}/${path}`, { method: 'POST', body: '{}' })
      assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
    }
  const before = await (await get(`${sheet.formA}/schema`)).text()
  await writeFile(sheet.path, 'name,price\nx,y\n')
  const after = await (await get(`${sheet.formA}/schema`, { 'Cache-Control': 'no-cache' })).text()
  assert.notEqual(after, before)
  assert.match(after, /"price":\{"type":"string"/)
  done(await rowport.workshop.sheets.setPaused('acme', 'products', true))
  assert.equal((await get(`${sheet.formA}/schema`)).status, 503)
  const blank = await rowport.connectFile('blank', 'blank.csv', '')
  assert.equal((await get(`${blank.formA}/schema`)).status, 400)
  const bare = await rowport.connectFile('bare', 'bare.csv', 'a,b\n')
  assert.equal((await get(`${bare.formA}/openapi.json`)).status, 200)
})

test('a schema counts as a request, and a description of many columns stays quick', async (t) => {
  const { rowport, get } = await start(t)
  const wide = await rowport.connectFile(
    'wide',
    'wide.csv',
    `${Array.from({ length: 2_000 }, (_, n) => `column ${n}`).join(',')}\n${'1,'.repeat(1_999)}1\n`,
  )
  await (await get(wide.formA)).text()
  const workMs = await processorMs(async () =>
    assert.equal((await get(`${wide.formA}/openapi.json`)).status, 200),
  )
  assert.ok(workMs < 2_000, `${workMs} ms`)
})

test('HEAD of a description that nobody has asked for yet does not make it, and says what GET will', async (t) => {
  const { rowport, sheet, get } = await start(t)
  const wide = await rowport.connectFile(
    'wide',
    'wide.csv',
    `${Array.from({ length: 500 }, (_, n) => `column ${n}`).join(',')}\n1\n`,
  )
  const key = await rowport.createKey()
  const made = countTurns(rowport)
  for (const [base, what] of [
    [sheet.formA, 'schema'],
    [sheet.formA, 'openapi.json'],
    [sheet.formA, 'types.ts'],
    [wide.formB, 'schema'],
    [wide.formB, 'openapi.json'],
    [wide.formB, 'types.ts'],
  ] as const) {
    const path = `${base}/${what}`
    // The first read of a sheet has turns of its own.
    await (await get(base)).text()
    const ask = async (method: string, coding: string) => {
      const headers = { ...bearer(key), 'Accept-Encoding': coding }
      const before = made()
      const answer = await fetch(rowport.url + path, { method, headers })
      const length = (await answer.arrayBuffer()).byteLength
      const head = Object.fromEntries(answer.headers)
      const told = ['content-type', 'content-encoding', 'etag', 'cache-control', 'vary'].map(
        (name) => head[name],
      )
      return {
        told: [answer.status, ...told],
        tellsLength: head['content-length'],
        length,
        turns: made() - before,
      }
    }
    const first = await ask('HEAD', 'identity')
    assert.deepEqual([first.turns, first.tellsLength], [0, undefined], `${path}: it was not made`)
    const compressed = await ask('HEAD', 'gzip')
    if (base === wide.formB) assert.equal(compressed.turns, 0, `${path}: it was not made`)
    const body = await ask('GET', 'identity')
    assert.deepEqual(body.told, first.told, path)
    assert.deepEqual((await ask('GET', 'gzip')).told, compressed.told, path)
    const known = await ask('HEAD', 'identity')
    assert.deepEqual([known.told, known.tellsLength], [body.told, String(body.length)], `${path}: it is kept`)
  }
})

test('a description is made once, and kept with what was read', async (t) => {
  const { rowport, sheet, get } = await start(t)
  await (await get(sheet.formA)).text()
  const made = countTurns(rowport)
  for (const what of ['schema', 'openapi.json', 'types.ts', 'schema?row_numbers=true']) {
    const texts: string[] = []
    const turns: number[] = []
    for (let nth = 0; nth < 3; nth++) {
      const before = made()
      texts.push(await (await get(`${sheet.formA}/${what}`)).text())
      turns.push(made() - before)
    }
    assert.deepEqual([new Set(texts).size, turns], [1, [1, 0, 0]], what)
  }
})

/** Whoever makes a description takes a turn of the main thread for it. */
function countTurns({ workshop: { turns } }: Rowport): () => number {
  let taken = 0
  const { next } = turns
  turns.next = (taker) => {
    taken++
    return next(taker)
  }
  return () => taken
}

async function auth(rowport: { createKey(): Promise<{ value: string }> }) {
  return bearer(await rowport.createKey())
}

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const get = (path: string, headers: Record<string, string> = {}) =>
    rowport.get(path, { ...bearer(key), ...headers })
  return { rowport, sheet, get }
}
