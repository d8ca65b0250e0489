import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { generateApiKey } from '../../src/admission/api-key.ts'
import { bearer, done, startMs, startRowport } from '../harness.ts'
import { sized } from '../soak.ts'

const startSeconds = startMs / 1_000

test('every answer past authentication tells the window; none before it does', async (t) => {
  const { rowport, sheet, key, read } = await start(t, { requestsPerMinute: 5, requestsPerMonth: null })
  const limitsOf = ({ headers }: Response) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
  assert.deepEqual(limitsOf(await read()), ['5', '4', String(startSeconds + 60)])
  rowport.clock.advanceMs(1_500)
  assert.deepEqual(limitsOf(await rowport.get(`${sheet.formB}/99`, bearer(key))), [
    '5',
    '3',
    String(startSeconds + 60),
  ])
  done(await rowport.workshop.sheets.setPaused('acme', 's', true))
  assert.deepEqual(limitsOf(await read()), ['5', '3', String(startSeconds + 60)], 'paused costs nothing')
  done(await rowport.workshop.sheets.setPaused('acme', 's', false))
  for (const path of ['/nowhere', '/api/sheets/no/one', sheet.formA]) {
    assert.deepEqual(limitsOf(await rowport.get(path)), [null, null, null], path)
  }
  assert.deepEqual(limitsOf(await rowport.get(sheet.formA, { 'X-API-Key': 'wrong' })), [null, null, null])
  assert.deepEqual(
    limitsOf(await read()),
    ['5', '2', String(startSeconds + 60)],
    'strangers cost the account nothing',
  )
})

test('the request after the last is 429 in both forms, and whoever waits as told is served', async (t) => {
  const { rowport, sheet, key, read } = await start(t, { requestsPerMinute: 2, requestsPerMonth: null })
  rowport.clock.advanceMs(250)
  assert.equal((await read()).status, 200)
  rowport.clock.advanceMs(10_000)
  assert.equal((await read()).status, 200)
  const flat = await read()
  assert.equal(flat.status, 429)
  assert.equal(flat.headers.get('retry-after'), '50')
  assert.equal(flat.headers.get('x-ratelimit-remaining'), '0')
  assert.equal(flat.headers.get('x-ratelimit-reset'), String(startSeconds + 61), 'rounded up')
  assert.deepEqual(await flat.json(), {
    error: 'Rate limit exceeded. Please retry after 50 seconds.',
    code: 'rate_limited',
  })
  rowport.clock.advanceMs(49_001)
  const nested = await rowport.get(sheet.formB, bearer(key))
  assert.equal(nested.headers.get('retry-after'), '1')
  assert.deepEqual(await nested.json(), {
    error: {
      code: 'rate_limited',
      message: 'Too many requests. Please retry after 1 seconds.',
      retry_after: 1,
    },
  })
  rowport.clock.advanceMs(1_000)
  assert.equal((await read()).status, 200)
})

test('exactly N of a window are admitted at four times the load over 100 connections', async (t) => {
  const limit = 150
  const windows = sized(2, 5)
  const { rowport, read } = await start(t, { requestsPerMinute: limit, requestsPerMonth: null })
  const perWindow: number[] = []
  for (let window = 0; window < windows; window++) {
    // The first of each window is the client that waited as it was told.
    const waited = await read()
    assert.equal(waited.status, 200)
    const answers = await Promise.all(Array.from({ length: limit * 4 - 1 }, () => read()))
    perWindow.push([waited, ...answers].filter(({ status }) => status === 200).length)
    const refused = answers.find(({ status }) => status === 429)
    rowport.clock.advanceMs(Number(refused?.headers.get('retry-after')) * 1_000)
  }
  process.stdout.write(`admitted in each window of ${limit}: ${perWindow.join(' ')}\n`)
  assert.deepEqual(
    perWindow,
    Array.from({ length: windows }, () => limit),
  )
})

test('test keys have a window of their own', async (t) => {
  const { rowport, sheet, read } = await start(t, { requestsPerMinute: 1, requestsPerMonth: null })
  const testKey = await rowport.createKey({ mode: 'test' })
  assert.equal((await read()).status, 200)
  assert.equal((await read()).status, 429)
  assert.equal((await rowport.get(sheet.formA, bearer(testKey))).status, 200)
  assert.equal((await rowport.get(sheet.formA, bearer(testKey))).status, 429)
})

test('the quota counts successes only, tells what is left, and ends with 429', async (t) => {
  const { rowport, sheet, key, read } = await start(t, { requestsPerMinute: null, requestsPerMonth: 3 })
  const left = (answer: Response) => answer.headers.get('x-quota-remaining')
  const first = await read()
  assert.equal(first.headers.get('x-quota-limit'), '3')
  assert.equal(first.headers.get('x-quota-reset'), String(Date.UTC(2026, 11, 15) / 1_000))
  assert.equal(left(first), '2')
  const etag = first.headers.get('etag') ?? ''
  assert.equal((await rowport.get(sheet.formA, { ...bearer(key), 'If-None-Match': etag })).status, 304)
  assert.equal((await rowport.get(`${sheet.formA}/99`, bearer(key))).status, 404)
  assert.equal((await rowport.get(`${sheet.formA}?limit=x`, bearer(key))).status, 400)
  assert.equal(left(await read()), '1', 'what was not 2xx cost nothing')
  assert.equal(left(await read()), '0')
  for (const path of [sheet.formA, sheet.formB, `${sheet.formA}/1`]) {
    const over = await rowport.get(path, bearer(key))
    assert.equal(over.status, 429, path)
    assert.equal(left(over), '0')
    const secondsLeft = (Date.UTC(2026, 11, 15) - startMs) / 1_000
    assert.equal(over.headers.get('retry-after'), String(secondsLeft))
    assert.match(await over.text(), /"usage_limit_exceeded".*|Monthly API request limit exceeded/)
  }
  rowport.clock.advanceMs(Date.UTC(2026, 11, 15) - startMs)
  assert.equal(left(await read()), '2', 'a new month')
})

test('never more than the quota is served, however many ask at once', async (t) => {
  const limit = 230
  const { read } = await start(t, { requestsPerMinute: null, requestsPerMonth: limit })
  const answers = await Promise.all(Array.from({ length: limit * 2 }, () => read()))
  assert.equal(answers.filter(({ status }) => status === 200).length, limit)
  assert.equal((await read()).status, 429)
})

test('a lowered quota and a lowered rate hold for the next request', async (t) => {
  const { rowport, read } = await start(t, { requestsPerMinute: 100, requestsPerMonth: 1_000 })
  for (let n = 0; n < 5; n++) assert.equal((await read()).status, 200)
  done(
    await rowport.workshop.accounts.setPlan('acme', 'pro', { requestsPerMinute: 100, requestsPerMonth: 5 }),
  )
  assert.equal((await read()).status, 429)
  done(
    await rowport.workshop.accounts.setPlan('acme', 'pro', { requestsPerMinute: 3, requestsPerMonth: 1_000 }),
  )
  assert.equal((await read()).status, 429)
  done(
    await rowport.workshop.accounts.setPlan('acme', 'enterprise', {
      requestsPerMinute: null,
      requestsPerMonth: null,
    }),
  )
  const free = await read()
  assert.equal(free.status, 200)
  assert.equal(free.headers.get('x-ratelimit-limit'), null, 'no limit, nothing to tell')
})

test('a process that stops gives back what it did not use; the month goes on where it was', async (t) => {
  const { rowport, read } = await start(t, { requestsPerMinute: null, requestsPerMonth: 1_000 })
  for (let n = 0; n < 7; n++) await read()
  const { store } = rowport.workshop
  const account = await store.findAccount('acme')
  assert.ok(account)
  const before = await store.chargeAhead(account.id, Date.UTC(2026, 10, 15), 1_000, 0)
  assert.ok(before.charged > 7, 'charged ahead in blocks, not for each request')
  await rowport.stopServer()
  const after = await store.chargeAhead(account.id, Date.UTC(2026, 10, 15), 1_000, 0)
  assert.equal(after.charged, 7)
})

test('plans come from the settings', async (t) => {
  const rowport = await startRowport(t, {
    plan: 'tiny',
    settings: { plans: { tiny: { requestsPerMinute: 1, requestsPerMonth: null, writeApi: false } } },
  })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  assert.equal((await rowport.get(sheet.formA, bearer(key))).headers.get('x-ratelimit-limit'), '1')
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 429)
})

test('strangers who are refused too often must wait; those with a key need not, here or elsewhere', async (t) => {
  const rowport = await startRowport(t, { settings: { refusalsPerMinute: 3, trustedProxies: ['127.0.0.1'] } })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const from = (address: string, headers = {}) =>
    rowport.get(sheet.formA, { 'X-Forwarded-For': address, ...headers })
  for (const status of [401, 401, 401, 429, 429]) assert.equal((await from('192.0.2.1')).status, status)
  for (const wrong of [{}, { 'X-API-Key': 'wrong' }, bearer({ value: generateApiKey('live') })]) {
    const refused = await from('192.0.2.1', wrong)
    assert.equal(refused.status, 429, 'a key that is none tells nothing')
    assert.equal(refused.headers.get('retry-after'), '60')
    assert.equal(refused.headers.get('x-ratelimit-limit'), '3')
  }
  assert.equal((await from('192.0.2.1', bearer(key))).status, 200, 'a neighbour does not stop a valid key')
  assert.equal((await from('192.0.2.1', { 'X-API-Key': key.value })).status, 200)
  const inQuery = `${sheet.formB}?api_key=${key.value}`
  assert.equal((await rowport.get(inQuery, { 'X-Forwarded-For': '192.0.2.1' })).status, 200)
  assert.equal((await from('192.0.2.2', bearer(key))).status, 200)
  assert.equal(
    (await from('192.0.2.1, 192.0.2.3', bearer(key))).status,
    200,
    'only what the proxy added counts',
  )
  for (const status of [401, 401, 401, 429]) assert.equal((await from('2001:db8::1')).status, status)
  assert.equal((await from('2001:db8::ffff')).status, 429, 'one /64 is one caller')
  assert.equal((await from('2001:db8:0:1::1')).status, 401)
  rowport.clock.advanceMs(60_000)
  assert.equal((await from('192.0.2.1', bearer(key))).status, 200)
})

test('at an address that waits, only what may be a key is looked up', async (t) => {
  const rowport = await startRowport(t, { settings: { refusalsPerMinute: 1 } })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n', { access: 'public-read' })
  const { value } = await rowport.createKey()
  assert.equal((await rowport.get(sheet.formA, { 'X-API-Key': 'wrong' })).status, 403)
  const { store } = rowport.workshop
  const { lookUp } = store
  let lookUps = 0
  store.lookUp = (...asked) => {
    lookUps++
    return lookUp(...asked)
  }
  const mistyped = value.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  for (const apiKey of ['', 'nonsense', mistyped, `${value}0`]) {
    const { status } = await rowport.get(sheet.formA, { 'X-API-Key': apiKey })
    assert.equal(status, 429, apiKey.slice(0, 8))
  }
  assert.equal(lookUps, 0)
  assert.equal((await rowport.get(sheet.formA, { 'X-API-Key': generateApiKey('live') })).status, 429)
  assert.equal(lookUps, 1)
})

test('without a named proxy, nobody can speak for another address', async (t) => {
  const rowport = await startRowport(t, { settings: { refusalsPerMinute: 1 } })
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  assert.equal((await rowport.get(sheet.formA, { 'X-Forwarded-For': '192.0.2.1' })).status, 401)
  assert.equal((await rowport.get(sheet.formA, { 'X-Forwarded-For': '192.0.2.2' })).status, 429)
})

test('when a key was last used is remembered, and not written by requests', async (t) => {
  const { rowport, key, read } = await start(t, { requestsPerMinute: null, requestsPerMonth: null })
  rowport.clock.advanceMs(5_000)
  await read()
  const { store } = rowport.workshop
  assert.equal((await store.findKey(key.id))?.lastUsedAtMs, null)
  await rowport.stopServer()
  assert.equal((await store.findKey(key.id))?.lastUsedAtMs, startMs + 5_000)
})

interface OwnLimits {
  requestsPerMinute: number | null
  requestsPerMonth: number | null
}

async function start(t: TestContext, own: OwnLimits) {
  const rowport = await startRowport(t)
  done(await rowport.workshop.accounts.setPlan('acme', 'enterprise', own))
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  return { rowport, sheet, key, read: () => rowport.get(sheet.formA, bearer(key)) }
}
