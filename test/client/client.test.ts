import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { RowportError, sheet, verifyWebhook, WebhookError } from '../../client/src/rowport.ts'
import type { Comparisons } from '../../client/src/sheet-types.ts'
import type { FilterOperator } from '../../src/sheets/rows/query/operators.ts'
import { bearer, startRowport } from '../harness.ts'
import { createPageKey } from '../pages/page-keys.ts'
import { findChromium, launchChromium } from '../servers/chromium.ts'
import { patienceMs, times } from '../soak.ts'
import { startFaultProxy } from './fault-proxy.ts'

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false
/** Does not compile where the API has an operator that the client does not know, or the other way round. */
true satisfies Same<keyof Comparisons<string>, FilterOperator>

const products = [
  'sku,name,category,price,in_stock,since',
  'A-1,Oak table,Furniture,420,TRUE,2026-11-15',
  'A-2,Desk lamp,Lamps,59.9,TRUE,2026-11-16',
  'A-3,"Shade, large",Lamps,12,FALSE,',
].join('\n')
const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

test('everyday reading and writing, at both addresses', async (t) => {
  const { rowport, key, connected } = await start(t)
  for (const path of [connected.formA, connected.formB]) {
    const rows = sheet(rowport.url + path, { key: key.value })
    assert.deepEqual(await rows.rows({ where: { category: 'lamps', price: { gt: 20 } } }), [
      {
        ...{ _row: 3, sku: 'A-2', name: 'Desk lamp', category: 'Lamps', price: 59.9, in_stock: true },
        since: '2026-11-16',
      },
    ])
    assert.equal(await rows.count({ where: { name: ['Shade, large'] } }), 1)
    assert.equal(await rows.count({ where: { since: null } }), 1)
    assert.deepEqual(await rows.sums('count(),sum(price)', 'category', { sort: '-sum_price' }), [
      { category: 'Furniture', count: 1, sum_price: 420 },
      { category: 'Lamps', count: 2, sum_price: 71.9 },
    ])
    const added = await rows.add([{ sku: 'B-1', price: 1 }, { sku: 'B/2' }])
    assert.deepEqual(
      [added.rowsAdded, added.rows.map(({ _row, sku }) => [_row, sku])],
      [
        2,
        [
          [5, 'B-1'],
          [6, 'B/2'],
        ],
      ],
    )
    const found = await rows.row({ sku: 'B/2' })
    const updated = await rows.update({ sku: 'B/2' }, { name: 'Bench' }, { ifMatch: found?.etag ?? '' })
    assert.deepEqual([updated.rowsUpdated, updated.rows[0]?._row, updated.rows[0]?.name], [1, 6, 'Bench'])
    await assert.rejects(
      rows.update({ sku: 'B/2' }, { name: 'Chair' }, { ifMatch: found?.etag ?? '' }),
      (error) =>
        error instanceof RowportError && error.status === 412 && error.code === 'precondition_failed',
    )
    const upserted = await rows.upsert('sku', [{ sku: 'B-1', price: 2 }, { sku: 'B-3' }])
    assert.deepEqual([upserted.rowsAdded, upserted.rowsUpdated], [1, 1])
    assert.equal(
      (await rows.updateWhere({ sku: { starts: 'B' } }, { category: 'New' }, { dryRun: true })).rowsUpdated,
      3,
    )
    assert.equal(await rows.count({ where: { category: 'New' } }), 0)
    const removed = await rows.removeWhere({ sku: { starts: 'B' } })
    assert.equal(removed.rowsDeleted, 3)
    await rows.undo(removed.operation ?? '')
    assert.equal(await rows.count(), 6)
    assert.equal((await rows.remove(5)).rowsDeleted, 1)
    await rows.removeWhere({ sku: { starts: 'B' } })
    assert.equal(await rows.row({ sku: 'B-1' }), null)
    const all: number[] = []
    for await (const { _row } of rows.each({ pageSize: 2 })) all.push(_row)
    assert.deepEqual(all, [2, 3, 4])
  }
})

test('a condition that says nothing reaches no row, and what cannot be meant is refused before it is sent', async (t) => {
  const { rowport, key, connected } = await start(t)
  const rows = sheet(rowport.url + connected.formA, { key: key.value })
  assert.deepEqual(await rows.rows({ where: { sku: [] } }), [])
  assert.equal(await rows.count({ where: { category: 'Lamps', sku: { in: [] } } }), 0)
  assert.equal((await rows.removeWhere({ category: 'Lamps', sku: [] })).rowsDeleted, 0)
  const missing = undefined as unknown as string
  const refused: [() => Promise<unknown>, RegExp][] = [
    [() => rows.removeWhere({ category: 'Lamps', sku: missing }), /sku is undefined/],
    [() => rows.removeWhere({ category: 'Lamps', sku: {} }), /sku is undefined/],
    [() => rows.updateWhere({ sku: { in: [null as unknown as string] } }, { price: 1 }), /list for sku/],
    [() => rows.rows({ where: { since: new Date() as unknown as string } }), /dates are texts/],
    [() => rows.update({ sku: 'A-1' }, { price: Number.NaN }), /price is NaN/],
    [() => rows.add({ sku: 'C', price: Number.POSITIVE_INFINITY }), /price is Infinity/],
    [() => rows.update({ sku: 'A-1' }, { price: 1 }, { ifMatch: '' }), /ifMatch is empty/],
    [() => rows.remove({ '..': 2 }), /No address can hold/],
    [() => rows.row({ sku: '.' }), /No address can hold/],
    [() => rows.remove({}), /by one column/],
    [async () => rows.each({ pageSize: 0 })[Symbol.asyncIterator]().next(), /numbers of rows/],
  ]
  for (const [ask, words] of refused) await assert.rejects(ask(), words)
  assert.equal(await rows.count(), 3)
  // Nothing was written, so there is nothing to undo.
  assert.equal((await rows.upsert('sku', { sku: 'A-1', name: 'Oak table' })).operation, null)
  assert.equal((await rows.removeWhere({ sku: 'none' })).operation, null)
})

test('a key that gets a hundred rows at once gets all of them', async (t) => {
  const { rowport } = await start(t)
  const numbers = Array.from({ length: 250 }, (_, at) => at)
  await rowport.connectFile('long', 'long.csv', ['n', ...numbers].join('\n'))
  const key = await createPageKey(rowport, 'long', { origins: 'any' })
  const rows = sheet(`${rowport.url}/api/sheets/acme/long`, { key: key.value })
  assert.deepEqual(
    (await rows.rows()).map(({ n }) => n),
    numbers,
  )
  assert.deepEqual(
    (await rows.rows({ limit: 120, offset: 5 })).map(({ n }) => n),
    numbers.slice(5, 125),
  )
  const each: unknown[] = []
  for await (const { n } of rows.each()) each.push(n)
  assert.deepEqual(each, numbers)
})

test('a response that was cut off, or is a page of something else, is asked for again', async (t) => {
  const { rowport, key, connected } = await start(t)
  const wrong = ['[{"sku":"A-1"', '<html>Sign in</html>', '']
  const cutting: typeof fetch = async (...asked) => {
    const text = wrong.shift()
    return text === undefined ? fetch(...asked) : new Response(text)
  }
  const rows = sheet(rowport.url + connected.formA, { key: key.value, fetch: cutting, sleep: async () => {} })
  assert.equal((await rows.rows()).length, 3)
  const odd: typeof fetch = async () => new Response('{"oops":1}', { status: 502 })
  const without = sheet(rowport.url + connected.formA, { fetch: odd, retries: 0 })
  await assert.rejects(without.rows(), { code: 'no_answer', status: 502 })
})

test('what was read is not sent again while it holds', async (t) => {
  const { rowport, key, connected } = await start(t)
  const statuses: number[] = []
  const counting: typeof fetch = async (...asked) => {
    const answer = await fetch(...asked)
    statuses.push(answer.status)
    return answer
  }
  const rows = sheet(rowport.url + connected.formA, { key: key.value, fetch: counting })
  const first = await rows.rows()
  assert.deepEqual(await rows.rows(), first)
  await rows.update(2, { price: 421 })
  assert.equal((await rows.rows())[0]?.price, 421)
  assert.deepEqual(statuses, [200, 304, 200, 200])
})

test('changes come in order, from a cursor on, until they are no longer wanted', async (t) => {
  const { rowport, key, connected } = await start(t)
  const rows = sheet(rowport.url + connected.formA, { key: key.value })
  const answer = await rowport.get(connected.formA, bearer(key))
  const since = answer.headers.get('x-change-cursor') ?? ''
  await rows.add({ sku: 'B-1' })
  await rows.remove({ sku: 'B-1' })
  const stop = new AbortController()
  const kinds: string[] = []
  for await (const { kind } of rows.changes({ since, signal: stop.signal })) {
    kinds.push(kind)
    if (kinds.length === 2) stop.abort()
  }
  assert.deepEqual(kinds, ['added', 'deleted'])
})

test('writes through a network that loses, delays and refuses: none lost, none doubled', {
  timeout: patienceMs,
}, async (t) => {
  const { rowport, key, connected } = await start(t)
  let seed = 1
  const proxy = await startFaultProxy(t, rowport.port, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  })
  // Waiting is what a client does; here it is made short.
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms / 50))
  const rows = sheet(proxy.url + connected.formB, { key: key.value, retries: 20, sleep })
  const writes = times(300, 1_000)
  const told: (number | undefined)[] = []
  let at = 0
  const writer = async () => {
    while (at < writes) {
      const number = at++
      const { rows: made } = await rows.add({ sku: `W-${number}`, price: number })
      told.push(made[0]?._row)
    }
  }
  await Promise.all(Array.from({ length: 100 }, writer))
  const found = (await sheet(rowport.url + connected.formB, { key: key.value }).rows()).slice(3)
  assert.equal(told.length, writes)
  assert.deepEqual(
    found.map(({ sku }) => Number(String(sku).slice(2))).sort((one, other) => one - other),
    Array.from({ length: writes }, (_, number) => number),
  )
  assert.equal(new Set(told).size, writes, 'each was told its own row')
  t.diagnostic(`${writes} writes: ${[...proxy.met].map(([fate, count]) => `${fate} ${count}`).join(', ')}`)
})

test('what is no use repeating is told at once', async (t) => {
  const { rowport, connected } = await start(t)
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const rows = sheet(rowport.url + connected.formA, { key: 'sk_live_nonsense', sleep })
  await assert.rejects(rows.rows(), { code: 'invalid_api_key', status: 403 })
  const answers = [
    Response.json(
      { error: 'Used up.', code: 'usage_limit_exceeded' },
      { status: 429, headers: { 'Retry-After': '86400' } },
    ),
  ]
  const refused = sheet('http://rowport.test/v1/sheets/x', {
    sleep,
    fetch: async () => answers.shift() ?? Response.error(),
  })
  await assert.rejects(refused.rows(), { code: 'usage_limit_exceeded', retryAfter: 86_400 })
  assert.deepEqual(waits, [])
  const nobody = sheet('http://127.0.0.1:1/v1/sheets/x', { retries: 3, sleep })
  await assert.rejects(nobody.rows(), TypeError)
  assert.equal(waits.length, 3)
})

test('whoever no longer wants changes does not wait for the server, before the first one neither', async () => {
  const busy = async () => new Response('', { status: 503, headers: { 'Retry-After': '50' } })
  for (const since of [{}, { since: 'x' }]) {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 50)
    const begunMs = performance.now()
    const rows = sheet('http://rowport.test/v1/sheets/x', { fetch: busy })
    for await (const _ of rows.changes({ ...since, signal: stop.signal })) assert.fail('there are none')
    assert.ok(performance.now() - begunMs < 20_000)
  }
})

test('100,000 rows are read one page after the other, in bounded memory', {
  timeout: patienceMs,
}, async (t) => {
  const { rowport, key } = await start(t)
  const lines = Array.from({ length: 100_000 }, (_, at) => `${at},${'x'.repeat(40)}`)
  const large = await rowport.connectFile('large', 'large.csv', `n,text\n${lines.join('\n')}`)
  const held: number[] = []
  const watching: typeof fetch = async (...asked) => {
    const answer = await fetch(...asked)
    const text = await answer.text()
    held.push(text.length)
    return new Response(text, answer)
  }
  let sum = 0
  let count = 0
  for await (const { n } of sheet(rowport.url + large.formA, { key: key.value, fetch: watching }).each()) {
    sum += Number(n)
    count++
  }
  assert.deepEqual([count, sum], [100_000, (99_999 * 100_000) / 2])
  assert.ok(Math.max(...held) < 100_000, `${Math.max(...held)} characters in one page`)

  // In a process that has nothing but the client, and that cleans up before each look.
  const program = `
    import { sheet } from ${JSON.stringify(join(root, 'client/src/rowport.ts'))}
    const [address, key] = process.argv.slice(1)
    const heldNow = () => (gc(), gc(), process.memoryUsage().heapUsed)
    let count = 0, first = 0, most = 0
    for await (const row of sheet(address, { key }).each()) {
      count++
      if (count === 1_000) first = heldNow()
      else if (count % 10_000 === 0) most = Math.max(most, heldNow())
    }
    console.log(JSON.stringify({ count, first, most }))`
  const args = ['--expose-gc', '--input-type=module', '-e', program, rowport.url + large.formA, key.value]
  const { stdout } = await run(process.execPath, args, { timeout: 150_000 })
  const { count: seen, first, most } = JSON.parse(stdout)
  const mb = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)
  t.diagnostic(`heap after 1,000 rows ${mb(first)} MB, at most ${mb(most)} MB in 100,000`)
  assert.equal(seen, 100_000)
  // All of them would be some 15 MB.
  assert.ok(most - first < 3 * 1024 * 1024, `${mb(first)} MB became ${mb(most)} MB`)
})

test('webhooks are verified as others sign them', async () => {
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
  const body = '{"type":"rows.changed","timestamp":"2026-11-15T09:30:00Z","data":{"n":1}}'
  const at = new Date()
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  }
  const other = `whsec_${Buffer.from('another secret of twenty').toString('base64')}`
  assert.deepEqual((await verifyWebhook(body, headers, [other, secret])).data, { n: 1 })
  assert.equal((await verifyWebhook(body, new Headers(headers), secret)).type, 'rows.changed')
  for (const [sent, given, nowMs] of [
    [`${body} `, secret, at.getTime()],
    [body, other, at.getTime()],
    [body, secret, at.getTime() + 6 * 60_000],
    [body, 'whsec_!', at.getTime()],
  ] as const)
    await assert.rejects(verifyWebhook(sent, headers, given, nowMs), WebhookError)
})

test('the package: small, and its examples compile strictly with the types of a sheet', {
  timeout: patienceMs,
}, async (t) => {
  const { rowport, key, connected } = await start(t)
  await run(process.execPath, [join(root, 'scripts/client.ts')])
  const bytes = gzipSync(await readFile(join(root, 'client/dist/rowport.js'))).length
  t.diagnostic(`${bytes} bytes compressed`)
  assert.ok(bytes <= 5_000)

  const packed = await run('npm', ['pack', '--dry-run', '--json'], { cwd: join(root, 'client') })
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }]
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    ...['LICENSE', 'README.md', 'dist/rowport.d.ts', 'dist/rowport.js', 'dist/sending.d.ts'],
    ...['dist/sheet-types.d.ts', 'dist/webhook.d.ts', 'package.json'],
  ])

  const types = await (await rowport.get(`${connected.formA}/types.ts`, bearer(key))).text()
  const readme = await readFile(join(root, 'client/README.md'), 'utf8')
  const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
  assert.equal(examples.length, 3)
  const folder = join(rowport.folder, 'compiled')
  await mkdir(join(folder, 'node_modules/@rowport'), { recursive: true })
  await symlink(join(root, 'client'), join(folder, 'node_modules/@rowport/client'))
  await writeFile(join(folder, 'products.ts'), types)
  await writeFile(join(folder, 'examples.ts'), examples.join('\n'))
  const wrong = [
    'products.rows({ where: { prize: 5 } })',
    "products.rows({ where: { price: { lt: 'cheap' } } })",
    "products.add({ sku: 'B-1', since: 'soon' })",
    "products.update({ sku: 'B-1' }, { price: 'much' })",
    "products.rows({ sort: 'prices' })",
  ]
  const lines = wrong.map((code) => `// @ts-expect-error\nvoid ${code}\n`)
  const imports =
    "import { sheet } from '@rowport/client'\nimport type { ProductsSheet } from './products.ts'\n"
  await writeFile(
    join(folder, 'wrong.ts'),
    `${imports}const products = sheet<ProductsSheet>('')\n${lines.join('')}void products.add({ since: '2026-11-15' })\n`,
  )
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ target: 'es2023', module: 'esnext', moduleResolution: 'bundler', allowImportingTsExtensions: true },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const compiled = run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  assert.equal(await compiled, '')
})

const skip = findChromium() ? false : 'Chromium is not on this machine'
test('in a browser, from a page of another origin', { skip, timeout: patienceMs }, async (t) => {
  const { rowport, key, connected } = await start(t)
  await run(process.execPath, [join(root, 'scripts/client.ts')])
  const code = await readFile(join(root, 'client/dist/rowport.js'), 'utf8')
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const shop = createServer((request, response) => {
    const isCode = request.url === '/rowport.js'
    response.setHeader('Content-Type', isCode ? 'text/javascript' : 'text/html')
    response.end(isCode ? code : '<!doctype html><title>Shop</title>')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  t.after(() => shop.close())
  // By a name that browsers do not trust as they trust loopback: there, less of `crypto` is to be had.
  const origin = `http://shop.lan:${(shop.address() as AddressInfo).port}`
  await page.goto(origin)
  const seen = await page.evaluate(
    async ({ address, apiKey, module }) => {
      const { sheet: open } = await import(module)
      const rows = open(address, { key: apiKey })
      const added = await rows.add({ sku: 'B-1', price: 5 })
      const counted = await rows.count({ where: { category: 'Lamps' } })
      const again = [await rows.rows({ limit: 1 }), await rows.rows({ limit: 1 })]
      return { operation: added.operation, counted, again: again.map(([first]) => first.sku) }
    },
    { address: rowport.url + connected.formA, apiKey: key.value, module: `${origin}/rowport.js` },
  )
  assert.match(seen.operation, /^op_/)
  assert.deepEqual([seen.counted, seen.again], [2, ['A-1', 'A-1']])
})

async function start(t: TestContext) {
  const rowport = await startRowport(t, { isTimePassing: true })
  const connected = await rowport.connectFile('products', 'products.csv', products)
  const key = await rowport.createKey()
  return { rowport, key, connected }
}
