import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'

const products = [
  'name,City,price,in stock,sold on,note,limit',
  'Oak table,Berlin,420,TRUE,2026-11-15,"heavy, solid",5',
  'Lamp,berlin,59.9,FALSE,2026-11-16,,10',
  'Shelf,Bonn,99,TRUE,2026-11-15T09:30:00,"n/a",15',
  'Chair,,n/a,,,Lamp included,',
  'Äpfel,Köln,7,FALSE,2025-01-01,x,20',
].join('\n')

test('filters: every operator, typed, all must hold', async (t) => {
  const { names } = await start(t)
  const cases: [query: string, names: string[]][] = [
    ['City=Berlin', ['Oak table', 'Lamp']],
    ['city=BERLIN', ['Oak table', 'Lamp']],
    ['City[eq]=Bonn', ['Shelf']],
    ['City[ne]=Berlin', ['Shelf', 'Chair', 'Äpfel']],
    ['price[gt]=59.9', ['Oak table', 'Shelf']],
    ['price[gte]=59.90', ['Oak table', 'Lamp', 'Shelf']],
    ['price[lt]=59.9', ['Äpfel']],
    ['price[lte]=59.9', ['Lamp', 'Äpfel']],
    ['price[gte]=10&price[lt]=100', ['Lamp', 'Shelf']],
    ['City[in]=Bonn,Köln', ['Shelf', 'Äpfel']],
    ['City[in]=Bonn&City[in]=Köln', ['Shelf', 'Äpfel']],
    ['note[in]=heavy, solid&note[in]=x', ['Oak table', 'Äpfel']],
    ['City[nin]=Bonn,Köln', ['Oak table', 'Lamp', 'Chair']],
    ['name[contains]=A', ['Oak table', 'Lamp', 'Chair']],
    ['name[starts]=äp', ['Äpfel']],
    ['price[ends]=9', ['Lamp', 'Shelf']],
    ['City[empty]=true', ['Chair']],
    ['note[empty]=false', ['Oak table', 'Shelf', 'Chair', 'Äpfel']],
    ['in stock=true', ['Oak table', 'Shelf']],
    ['in stock=FALSE', ['Lamp', 'Äpfel']],
    ['sold on[gte]=2026-11-15T09:00', ['Lamp', 'Shelf']],
    ['sold on=2026-11-15T00:00:00', ['Oak table']],
    ['limit[eq]=5', ['Oak table']],
    ['q=lamp', ['Lamp', 'Chair']],
    ['q=&limit[gte]=15', ['Shelf', 'Äpfel']],
    ['City=', []],
    ['price=n/a', ['Chair']],
    ['City=Berlin&in stock=true&q=oak', ['Oak table']],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await names(query), expected, query)
})

test('sort is stable, typed, with empty cells last both ways', async (t) => {
  const { names } = await start(t)
  assert.deepEqual(await names('sort=price'), ['Äpfel', 'Lamp', 'Shelf', 'Oak table', 'Chair'])
  assert.deepEqual(await names('sort=-price'), ['Chair', 'Oak table', 'Shelf', 'Lamp', 'Äpfel'])
  assert.deepEqual(await names('sort=city'), ['Oak table', 'Lamp', 'Shelf', 'Äpfel', 'Chair'])
  assert.deepEqual(await names('sort=-city,price'), ['Äpfel', 'Shelf', 'Lamp', 'Oak table', 'Chair'])
  assert.deepEqual(await names('sort=-city&sort=-name'), ['Äpfel', 'Shelf', 'Oak table', 'Lamp', 'Chair'])
})

test('fields chooses columns and their order, in lists and in rows', async (t) => {
  const { get, sheet } = await start(t)
  assert.equal(
    await (await get(`${sheet.formA}?fields=price,NAME&limit=1`)).text(),
    '[{"price":420,"name":"Oak table"}]',
  )
  assert.equal(
    await (await get(`${sheet.formA}?fields=name&row_numbers=true&City=Bonn`)).text(),
    '[{"_row":4,"name":"Shelf"}]',
  )
  assert.equal(await (await get(`${sheet.formA}/4?fields=price,name`)).text(), '{"price":99,"name":"Shelf"}')
  const nested = (await (await get(`${sheet.formB}?fields=price&limit=1`)).json()) as { meta: object }
  assert.deepEqual(Object.entries(nested.meta).slice(0, 6), [
    ['total', 5],
    ['count', 1],
    ['limit', 1],
    ['offset', 0],
    ['columns', ['price']],
    ['rows', [2]],
  ])
})

test('totals and links are those of the rows that match, and lead through all of them', async (t) => {
  const { get, sheet } = await start(t)
  for (const base of [sheet.formA, sheet.formB]) {
    let next: string | undefined =
      `${base}?price%5Bgte%5D=10&sort=-price&limit=1&fields=name&_=7&utm_source=x`
    const seen: unknown[] = []
    while (next) {
      const answer = await get(next.replace(/^http:\/\/[^/]+/, ''))
      assert.equal(answer.headers.get('x-total-count'), '3')
      const body = (await answer.json()) as { name: string }[] | { data: { name: string }[] }
      seen.push(...(Array.isArray(body) ? body : body.data).map(({ name }) => name))
      const link: string = answer.headers.get('link') ?? ''
      assert.doesNotMatch(link, /utm|_=|api_key/)
      next = /<([^>]+)>; rel="next"/.exec(link)?.[1]
      assert.ok(seen.length <= 3)
    }
    assert.deepEqual(seen, ['Oak table', 'Shelf', 'Lamp'])
  }
})

test('what is wrong with a query is told by name, in both forms, with what would be right', async (t) => {
  const { get, sheet } = await start(t)
  const cases: [query: string, details: RegExp][] = [
    [
      'Ctiy=Berlin',
      /^There is no column "Ctiy" to filter by\. Did you mean "City"\? The columns are "name", "City", /,
    ],
    ['price[gtee]=5', /^There is no operator "gtee"\. Did you mean "gte"\? The operators are eq, ne, /],
    ['price[empty]=maybe', /^"price\[empty\]" must be "true" or "false"\.$/],
    ['sort=prise', /^There is no column "prise" for "sort"\. Did you mean "price"\?/],
    ['fields=nmae', /^There is no column "nmae" for "fields"\. Did you mean "name"\?/],
    ['format=xml', /^"format" must be "json", "csv" or "ndjson"\.$/],
    ['values=raw', /^"values" must be "typed" or "formatted"\.$/],
    ['limit=5&limit=6', /^"limit" was given twice/],
  ]
  for (const [query, details] of cases) {
    const flat = await get(`${sheet.formA}?${query}`)
    const nested = await get(`${sheet.formB}?${query}`)
    assert.deepEqual([flat.status, nested.status], [400, 400], query)
    const told = (await flat.json()) as { code: string; details: string }
    assert.equal(told.code, 'invalid_query')
    assert.match(told.details, details)
    const { error } = (await nested.json()) as { error: { code: string; details: string } }
    assert.deepEqual([error.code, error.details], [told.code, told.details])
  }
  const row = await get(`${sheet.formA}/2?City=Berlin`)
  assert.equal(row.status, 400)
  assert.match(((await row.json()) as { details: string }).details, /one row is asked for/)
})

test('a query is judged for those admitted only: before the sheet is read as far as possible, the rest after', async (t) => {
  const { rowport, get, sheet } = await start(t)
  for (const query of ['limit=x', 'nothing=1', 'price[gtee]=1'])
    assert.equal((await rowport.get(`${sheet.formA}?${query}`)).status, 401, query)
  await rm(sheet.path)
  rowport.clock.advanceMs(60_000)
  const codeOf = async (query: string) =>
    ((await (await get(`${sheet.formA}?${query}`)).json()) as { code: string }).code
  assert.equal(await codeOf('limit=x'), 'invalid_query', 'needs no sheet')
  assert.equal(await codeOf('nothing=1'), 'google_api_error', 'which columns there are is not known')
})

test('a name that several columns share is refused unless it is exact', async (t) => {
  const { rowport, get } = await start(t)
  const sheet = await rowport.connectFile('twins', 'twins.csv', 'Name,name,NAME_2\na,b,c\n')
  assert.equal(await (await get(`${sheet.formA}?name=b`)).text(), '[{"Name":"a","name":"b","NAME_2":"c"}]')
  const { details } = (await (await get(`${sheet.formA}?NAME=b`)).json()) as { details: string }
  assert.equal(
    details,
    '"NAME" could be "Name", "name"; write it exactly as in the sheet, capitals included.',
  )
})

async function start(t: TestContext) {
  const rowport = await startRowport(t)
  const key = await rowport.createKey()
  const sheet = await rowport.connectFile('products', 'products.csv', products)
  const get = (path: string) => rowport.get(path, bearer(key))
  return {
    rowport,
    sheet,
    get,
    async names(query: string): Promise<string[]> {
      const answer = await get(`${sheet.formA}?${query}`)
      const text = await answer.text()
      assert.equal(answer.status, 200, `${query}: ${text}`)
      const rows = JSON.parse(text) as { name: string }[]
      assert.equal(answer.headers.get('x-total-count'), String(rows.length))
      return rows.map(({ name }) => name)
    },
  }
}
