import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyCodePoint } from '../any-code-point.ts'
import { done, startRowport } from '../harness.ts'

/*
 * Two addresses of one resource (docs/contract.md#two-forms). Twins that begin alike are asked the same, one by Form A
 * and the other by Form B, so that also what each request costs and changes has to stay the same.
 */

/** docs/contract.md#form-of-errors. Every other code and message is the same in both. */
const renamed: Record<string, { code: string; message: (flat: string) => string }> = {
  api_key_required: { code: 'unauthorized', message: () => 'API key is required' },
  invalid_api_key: { code: 'forbidden', message: () => 'Invalid API key' },
  rate_limited: {
    code: 'rate_limited',
    message: (flat) => flat.replace('Rate limit exceeded.', 'Too many requests.'),
  },
}
const fileText = 'name,price,in stock,name\nOak,1,TRUE,"007"\nÄpfel,2.50,,x\n,,,\nLamp,-3,FALSE,\n'
const plenty = 1_000_000
const seed = 20261115
const keyKinds = ['none', 'bad', 'read', 'read-write', 'test', 'of another sheet'] as const

interface Ask {
  method: string
  /** Behind the sheet's own address. */
  path: string
  key: (typeof keyKinds)[number]
  isSheetUnknown?: boolean
  /** An ETag, or that of the answer before. */
  ifNoneMatch?: string
  noCache?: boolean
  body?: string
}

/** What the owner does, or time does, before a request. */
type Event =
  | { event: 'time passes'; ms: number }
  | { event: 'paused' | 'public' | 'live only' | 'gone'; is: boolean }
  | { event: 'plan'; plan: string; requestsPerMinute: number | null; requestsPerMonth: number | null }

interface Answer {
  status: number
  /** Without what has to differ. */
  headers: Record<string, string>
  text: string
}

const good: Ask = { method: 'GET', path: '', key: 'read-write' }
const lists = [
  '',
  '?limit=1',
  '?limit=1&offset=1',
  '?offset=2',
  '?limit=0',
  '?offset=99',
  '?row_numbers=true',
]
const pages = [
  '?limit=2&offset=1&row_numbers=true',
  '?row=2',
  '?row=4',
  '?utm_source=a&_=1',
  '?limit=1&limit=2',
]
const queries = [
  '?name=Oak',
  '?NAME=oak',
  '?price[gte]=2',
  '?price[gtee]=2',
  '?name[in]=Oak,Lamp&sort=-price',
  '?name_2[empty]=true',
  '?in%20stock[empty]=maybe',
  '?q=a&limit=1&fields=name,price',
  '?sort=price&row_numbers=true',
  '?sort=nothing',
  '?fields=',
  '?values=formatted',
  '?values=formatted&name=oak&fields=price',
  '?format=json&limit=1',
  '?format=xml',
  '/2?fields=price',
  '/4?fields=price&values=formatted',
  '/2?name=Oak',
]
const rows = ['/2', '/3', '/4', '/5', '/6', '/99', '/5?row=5', '/5?row_numbers=true']
const badPaths = [
  '/1',
  '/0',
  '/x',
  '/2?row=3',
  '?limit=x',
  '?offset=-1',
  '?unknown=1',
  '?%zz',
  '/2/3',
  '/',
  '//',
]
const brokenPath = '/%zz'
const named = ['/by/name/Oak', '/by/price/2.5?fields=price', '/by/name/none', '/by/name/Oak?dry_run=true']
const many = [
  '?upsert=name',
  '?upsert=name&dry_run=true',
  '?price[lt]=2&dry_run=true',
  '?all=true&max_rows=1',
]
const figures = ['?aggregate=count(),sum(price)', '?distinct=name&sort=-count']
const paths = [
  ...named,
  ...many,
  ...figures,
  ...lists,
  ...pages,
  ...queries,
  ...rows,
  ...badPaths,
  brokenPath,
]
const goodBodies = ['{"name":"Fir"}', '[{"NAME":"a","price":1.5},{"name":"b","_row":9}]', '{"name_2":"=1+1"}']
const badBodies = [
  '',
  '{',
  '[]',
  '{}',
  '7',
  '[7]',
  '{"nmae":"x"}',
  '{"name":null}',
  '{"name":[1]}',
  '{"a":1e400}',
]
const bodies = [...goodBodies, ...badBodies]
const etags = ['last', '*', '"other"', 'W/"other", "more"']
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']

test('asked by either form, the same request gets the same answer in the clothes of that form', async (t) => {
  const twins = await startTwins(t)
  for (const method of methods)
    for (const path of paths) await twins.compare({ ...good, method, path, body: '{"name":"x"}' })
  for (const method of ['POST', 'PUT', 'PATCH'])
    for (const body of bodies)
      await twins.compare({ ...good, method, path: method === 'POST' ? '' : '/2', body })
  for (const method of ['GET', 'HEAD'])
    for (const path of ['', '?limit=1', '/2', '/4', '/99'])
      for (const ifNoneMatch of etags) {
        await twins.compare({ ...good, method, path })
        await twins.compare({ ...good, method, path, ifNoneMatch })
        await twins.compare({ ...good, method, path, ifNoneMatch, noCache: true })
      }
  const states: Event[] = [
    { event: 'public', is: true },
    { event: 'live only', is: true },
    { event: 'gone', is: true },
    { event: 'time passes', ms: 11_000 },
    { event: 'plan', plan: 'free', requestsPerMinute: plenty, requestsPerMonth: plenty },
    { event: 'paused', is: true },
    { event: 'paused', is: false },
    { event: 'plan', plan: 'pro', requestsPerMinute: plenty, requestsPerMonth: 1 },
    { event: 'plan', plan: 'pro', requestsPerMinute: 1, requestsPerMonth: plenty },
  ]
  for (const state of states) {
    await twins.let(state)
    for (const key of keyKinds)
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
        await twins.compare({ ...good, key, method, body: '{"name":"x"}' })
    await twins.compare({ ...good, isSheetUnknown: true })
  }
  twins.tell()
})

test('so it is for whatever is asked, whatever happened before', async (t) => {
  const twins = await startTwins(t)
  const happens = fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: events })
  const property = fc.asyncProperty(happens, asks, async (event, ask) => {
    if (event) await twins.let(event)
    await twins.compare(ask)
  })
  await fc.assert(property, { seed, numRuns: 400 })
  twins.tell()
})

const counts = fc.oneof(fc.nat(6), fc.constantFrom(-1, 1.5, '', 'x', '00', 1e21, '9'.repeat(30)))
const parameter = fc.oneof(
  fc.tuple(fc.constantFrom('limit', 'offset', 'row'), counts),
  fc.tuple(fc.constant('row_numbers'), fc.constantFrom('true', 'false', 'TRUE', '')),
  fc.tuple(fc.constantFrom('utm_source', '_', 'name', 'sort', 'Limit'), fc.string({ maxLength: 4 })),
  fc.tuple(
    fc.constantFrom(
      'name',
      'price',
      'NAME',
      'price[gte]',
      'name[in]',
      'name_2[empty]',
      'x[eq]',
      'price[oops]',
    ),
    fc.constantFrom('Oak', '2', 'true', 'oak,lamp', ''),
  ),
  fc.tuple(fc.constantFrom('sort', 'fields'), fc.constantFrom('name', '-price', 'price,name', 'nmae', '')),
  fc.tuple(fc.constant('q'), fc.constantFrom('a', 'oak', '')),
  fc.tuple(fc.constant('values'), fc.constantFrom('typed', 'formatted', 'raw')),
)
const query = fc
  .array(parameter, { maxLength: 3 })
  .map((given) => given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&'))
const path = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...paths) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('', '', '', '', '/2', '/3', '/4', '/7', '/1'), query)
      .map(([row, given]) => (given === '' ? row : `${row}?${given}`)),
  },
)
const cell = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 6 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, [], 0.1),
)
const row = fc.dictionary(fc.constantFrom('name', 'PRICE', ' in stock', 'name_2', '_row', 'nmae'), cell)
const body = fc.oneof(
  fc.constantFrom(...goodBodies),
  fc.constantFrom(...bodies),
  fc.oneof(row, fc.array(row, { maxLength: 3 })).map((value) => JSON.stringify(value)),
)
const asks: fc.Arbitrary<Ask> = fc.record(
  {
    method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'POST', ...methods),
    path,
    key: fc.constantFrom(...keyKinds, ...Array.from({ length: 6 }, () => 'read-write' as const)),
    isSheetUnknown: fc.nat(9).map((n) => n === 0),
    ifNoneMatch: fc.constantFrom(...etags),
    noCache: fc.boolean(),
    body,
  },
  { requiredKeys: ['method', 'path', 'key', 'body'] },
)
const events: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ event: fc.constant('time passes' as const), ms: fc.nat(70_000) }),
  fc.record({
    event: fc.constantFrom('paused' as const, 'public' as const, 'live only' as const),
    // Mostly nothing is in the way, so that requests get far.
    is: fc.nat(5).map((n) => n === 0),
  }),
  fc.record({ event: fc.constant('gone' as const), is: fc.boolean() }),
  fc.record({
    event: fc.constant('plan' as const),
    plan: fc.constantFrom('free', 'pro', 'pro', 'business', 'enterprise'),
    requestsPerMinute: fc.constantFrom(null, 1, 10, plenty, plenty),
    requestsPerMonth: fc.constantFrom(null, null, 40, plenty, plenty),
  }),
)

async function startTwins(t: TestContext) {
  const [one, other] = [await startTwin(t, 'a'), await startTwin(t, 'b')]
  const outcomes = new Map<string, number>()
  let asked = 0
  let etag = '"none yet"'

  return {
    async let(event: Event): Promise<void> {
      await Promise.all([one.let(event), other.let(event)])
    },
    async compare(ask: Ask): Promise<void> {
      const given = ask.ifNoneMatch === 'last' ? { ...ask, ifNoneMatch: etag } : ask
      const [flat, nested] = await Promise.all([one.ask(given), other.ask(given)])
      assertAlike(given, flat, nested)
      etag = flat.headers.etag ?? etag
      asked++
      const outcome = flat.status < 400 || flat.text === '' ? '' : String(JSON.parse(flat.text).code)
      const name = `${flat.status} ${outcome}`.trim()
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    },
    /** A comparison that never got far would say little. */
    tell(): void {
      for (const twin of [one, other]) twin.assertSound()
      for (const status of [200, 201, 204, 304, 400, 401, 403, 404, 405, 429, 502, 503])
        assert.ok(
          [...outcomes.keys()].some((name) => name.startsWith(String(status))),
          `no ${status} was seen`,
        )
      const told = [...outcomes].sort().map(([name, times]) => `${name} ×${times}`)
      process.stdout.write(`${asked} requests in both forms: ${told.join(', ')}\n`)
    },
  }
}

function assertAlike({ method }: Ask, flat: Answer, nested: Answer): void {
  assert.equal(nested.status, flat.status)
  assert.deepEqual(sharedHeaders(nested), sharedHeaders(flat))
  if (method === 'HEAD' || flat.text === '') {
    assert.deepEqual([flat.text, nested.text], ['', ''])
  } else if (flat.status >= 400) {
    const { error: flatMessage, code: flatCode, ...flatRest } = JSON.parse(flat.text)
    const own = renamed[flatCode]
    const { code, message, retry_after, ...rest } = JSON.parse(nested.text).error
    assert.equal(code, own?.code ?? flatCode)
    assert.equal(message, own?.message(flatMessage) ?? flatMessage)
    assert.deepEqual(rest, flatRest)
    const wait = flatCode === 'rate_limited' ? Number(flat.headers['retry-after']) : undefined
    assert.equal(retry_after, wait, 'for `rate_limited` alone (docs/contract.md#form-of-errors)')
  } else if (method !== 'GET') {
    const { success, message, data, rows, ...rest } = JSON.parse(flat.text)
    assert.equal(success, true)
    if (rows === undefined) {
      assert.match(message, new RegExp(`^Row ${rest.row} (?:updated|deleted)$`))
      assert.deepEqual(JSON.parse(nested.text), { data, meta: rest })
    } else {
      assert.match(message, /^\d+ row\(s\) (?:(?:added|updated|deleted)$|added, \d+ updated, \d+ unchanged$)/)
      const numbers = rows.map((row: { _row: number }) => row._row)
      assert.deepEqual(JSON.parse(nested.text), { data: rows, meta: { ...rest, rows: numbers } })
    }
  } else {
    const begin = `{"data":${flat.text},"meta":`
    assert.equal(nested.text.slice(0, begin.length), begin, 'the same rows, to the byte')
    const data = JSON.parse(flat.text)
    const { meta } = JSON.parse(nested.text)
    assert.equal(new Date(meta.as_of).toISOString(), meta.as_of)
    if (!Array.isArray(data)) {
      assert.deepEqual(Object.keys(meta), ['row', 'as_of'])
      return
    }
    assert.deepEqual(String(meta.total), flat.headers['x-total-count'])
    assert.equal(meta.count, data.length)
    if (meta.ignored !== undefined) {
      const ignored = Object.entries(meta.ignored).map(([name, cells]) => `${name}=${cells}`)
      assert.equal(ignored.join(', '), flat.headers['x-ignored-cells'] ?? '')
      return
    }
    assert.equal(meta.rows.length, data.length)
    for (const [at, { _row: number = meta.rows[at], ...cells }] of data.entries()) {
      assert.equal(meta.rows[at], number)
      assert.deepEqual(Object.keys(cells), meta.columns)
    }
  }
}

/** Names that each server makes for itself are there in both, or in neither. */
function sharedHeaders({ headers }: Answer): Answer['headers'] {
  const own = ['x-change-cursor', 'operation-id'].filter((name) => headers[name] !== undefined)
  return { ...headers, ...Object.fromEntries(own.map((name) => [name, 'there'])) }
}

async function startTwin(t: TestContext, form: 'a' | 'b') {
  const rowport = await startRowport(t)
  const { workshop, clock } = rowport
  const own = { requestsPerMinute: plenty, requestsPerMonth: plenty }
  done(await workshop.accounts.setPlan('acme', 'pro', own))
  const sheet = await rowport.connectFile('s', 's.csv', fileText)
  await rowport.connectFile('other', 'other.csv', fileText)
  const base = form === 'a' ? sheet.formA : sheet.formB
  const unknown = form === 'a' ? '/api/sheets/acme/nothing' : '/v1/sheets/sh_nothing'
  const keys = {
    none: null,
    bad: 'nonsense',
    read: (await rowport.createKey({ scope: 'read' })).value,
    'read-write': (await rowport.createKey()).value,
    test: (await rowport.createKey({ mode: 'test' })).value,
    'of another sheet': (await rowport.createKey({ sheet: 'other' })).value,
  }
  let isGone = false

  return {
    async ask({ method, path, key, isSheetUnknown, ifNoneMatch, noCache, body }: Ask): Promise<Answer> {
      const value = keys[key]
      const headers = {
        // Form B is a little longer, and so the first to be long enough for compression.
        'Accept-Encoding': 'identity',
        ...(value === null ? {} : { Authorization: `Bearer ${value}` }),
        ...(ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch }),
        ...(noCache ? { 'Cache-Control': 'no-cache' } : {}),
      }
      const isWithBody = method !== 'GET' && method !== 'HEAD' && body !== undefined
      const options = { method, headers, ...(isWithBody ? { body } : {}) }
      const answer = await fetch(rowport.url + (isSheetUnknown ? unknown : base) + path, options)
      const told = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'content-length')
      // Where it was asked, and what the address calls a file: the rest is the same.
      const plain = (text: string) =>
        text
          .replaceAll(rowport.url, '')
          .replaceAll(base, '…')
          .replace(/filename="[^"]+"/, 'filename="…"')
      const withoutBase = told.map(([name, text]) => [name, plain(text)])
      return { status: answer.status, headers: Object.fromEntries(withoutBase), text: await answer.text() }
    },
    async let(happening: Event): Promise<void> {
      const { event } = happening
      if (event === 'time passes') clock.advanceMs(happening.ms)
      else if (event === 'plan') {
        const { plan, requestsPerMinute, requestsPerMonth } = happening
        done(await workshop.accounts.setPlan('acme', plan, { requestsPerMinute, requestsPerMonth }))
      } else if (event === 'paused') done(await workshop.sheets.setPaused('acme', 's', happening.is))
      else if (event === 'public') {
        const access = happening.is ? 'public-read' : 'private'
        done(await workshop.sheets.change('acme', 's', { access }))
      } else if (event === 'live only') {
        done(await workshop.sheets.change('acme', 's', { accepts: happening.is ? 'live' : 'both' }))
      } else if (happening.is !== isGone) {
        const away = `${sheet.path}.away`
        await (happening.is ? rename(sheet.path, away) : rename(away, sheet.path))
        isGone = happening.is
      }
    },
    assertSound(): void {
      assert.deepEqual(
        rowport.seen.filter(({ event }) => event === 'malfunction'),
        [],
      )
    },
  }
}
