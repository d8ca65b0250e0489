import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { bearer, done, startRowport } from '../harness.ts'
import { sized } from '../soak.ts'

const hourMs = 60 * 60 * 1_000

test('the same key and request again: the first answer, marked, in the form asked, and nothing is done', async (t) => {
  const { sheet, ask, lines } = await startWithSheet(t)
  const key = { 'Idempotency-Key': 'order-1' }
  const first = await ask('POST', sheet.formA, '{"name":"once"}', key)
  assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null])
  const again = await ask('POST', sheet.formA, '{"name":"once"}', { 'Idempotency-Key': '"order-1"' })
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  for (const name of ['location', 'etag', 'content-type', 'cache-control']) {
    assert.equal(again.headers.get(name), first.headers.get(name), name)
  }
  const other = await ask('POST', sheet.formB, '{"name":"once"}', key)
  assert.equal(other.status, 201)
  assert.deepEqual(other.json, { data: first.json.rows, meta: { rows_added: 1, rows: [4] } })
  assert.deepEqual(await lines(), ['name,price', 'a,1', 'b,2', 'once,'])
})

test('a DELETE that is sent twice under its key deletes one row, not the next one too', async (t) => {
  const { sheet, ask, lines } = await startWithSheet(t)
  const key = { 'Idempotency-Key': 'delete-1' }
  const first = await ask('DELETE', `${sheet.formA}/2`, null, key)
  const again = await ask('DELETE', `${sheet.formB}?row=2`, null, key)
  assert.deepEqual([first.json.data, again.json.data], [first.json.data, { name: 'a', price: 1 }])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(await lines(), ['name,price', 'b,2'])
})

test('another request under the same key is 422, whatever it is that differs', async (t) => {
  const { rowport, sheet, ask, lines } = await startWithSheet(t)
  const twin = await rowport.connectFile('twin', 'twin.csv', 'name,price\na,1\nb,2\n')
  const key = { 'Idempotency-Key': 'k' }
  assert.equal((await ask('PUT', `${sheet.formA}/2`, '{"price":9}', key)).status, 200)
  for (const [method, path, body, more] of [
    ['PUT', `${sheet.formA}/2`, '{"price":8}', {}],
    ['PUT', `${sheet.formA}/2`, '{"price":9} ', {}],
    ['PUT', `${sheet.formA}/3`, '{"price":9}', {}],
    ['PUT', `${sheet.formA}/x`, '{"price":9}', {}],
    ['PATCH', `${sheet.formA}/2`, '{"price":9}', {}],
    ['POST', sheet.formA, '{"price":9}', {}],
    ['DELETE', `${sheet.formA}/2`, null, {}],
    ['PUT', `${twin.formA}/2`, '{"price":9}', {}],
    ['PUT', `${sheet.formA}/2`, '{"price":9}', { 'If-Match': '*' }],
  ] as const) {
    const refused = await ask(method, path, body, { ...key, ...more })
    assert.deepEqual(
      [refused.status, refused.json.code],
      [422, 'idempotency_key_reused'],
      `${method} ${path}`,
    )
  }
  assert.deepEqual(await lines(), ['name,price', 'a,9', 'b,2'])
})

test('100 requests at once under one key: one effect, every 201 is the same, the rest are 409', async (t) => {
  const { sheet, ask, lines } = await startWithSheet(t)
  let conflicts = 0
  const rounds = sized(3, 10)
  for (let round = 0; round < rounds; round++) {
    const key = { 'Idempotency-Key': `round-${round}` }
    const body = JSON.stringify({ name: `round ${round}` })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => ask('POST', n % 2 ? sheet.formA : sheet.formB, body, key)),
    )
    const added = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409)
    assert.ok(added.length >= 1)
    assert.equal(added.length + refused.length, 100)
    // One for each form.
    assert.ok(new Set(added.map(({ text }) => text)).size <= 2)
    assert.equal(added.filter(({ headers }) => !headers.has('idempotent-replayed')).length, 1)
    for (const { headers, json } of refused) {
      assert.equal(headers.get('retry-after'), '1')
      assert.equal(json.code ?? json.error.code, 'idempotency_in_progress')
    }
    conflicts += refused.length
  }
  assert.equal((await lines()).length, 3 + rounds)
  process.stdout.write(
    `${rounds} rounds of 100 under one key: ${rounds} rows, ${conflicts} answered 409, the rest identical\n`,
  )
})

test('what was refused on its own account is refused again, with the same words', async (t) => {
  const { sheet, ask } = await startWithSheet(t)
  for (const [name, method, path, body, code] of [
    ['gone', 'PUT', `${sheet.formA}/9`, '{"price":1}', 'row_not_found'],
    ['field', 'POST', sheet.formA, '{"colour":1}', 'invalid_body'],
    ['value', 'POST', sheet.formA, '{"price":0.30000000000000004}', 'invalid_body'],
  ] as const) {
    const key = { 'Idempotency-Key': name }
    const first = await ask(method, path, body, key)
    const again = await ask(method, path, body, key)
    assert.equal(first.json.code, code)
    assert.deepEqual([again.status, again.text], [first.status, first.text])
    assert.deepEqual(
      [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
      [null, 'true'],
    )
    const nested = await ask(method, path.replace(sheet.formA, sheet.formB), body, key)
    assert.equal(nested.json.error.code, code)
  }
})

test('what never became an order leaves its key free: a bad body, a bad row, a failing spreadsheet', async (t) => {
  const { rowport, sheet, ask, lines } = await startWithSheet(t)
  const key = { 'Idempotency-Key': 'k' }
  assert.equal((await ask('POST', sheet.formA, '{', key)).status, 400)
  assert.equal((await ask('PUT', `${sheet.formA}/1`, '{"price":1}', key)).status, 400)
  const text = await readFile(sheet.path)
  await rm(sheet.path)
  assert.equal((await ask('POST', sheet.formA, '{"name":"x"}', key)).status, 502)
  assert.equal((await ask('POST', sheet.formA, '{"name":"x"}', key)).status, 502, 'a 5xx is never replayed')
  await writeFile(sheet.path, text)
  // A sheet that could not be read is asked for again a second later.
  rowport.clock.advanceMs(1_000)
  const done = await ask('POST', sheet.formA, '{"name":"x"}', key)
  assert.deepEqual([done.status, done.headers.get('idempotent-replayed')], [201, null])
  assert.deepEqual((await lines()).slice(3), ['x,'])
})

test('a key belongs to the account: another account may use the same', async (t) => {
  const { rowport, sheet, ask } = await startWithSheet(t)
  done(await rowport.workshop.accounts.create('other', 'enterprise'))
  const theirs = await rowport.connectFile('s', 'theirs.csv', 'name\n1\n', { account: 'other' })
  const theirKey = await rowport.createKey({ account: 'other' })
  const key = { 'Idempotency-Key': 'k' }
  assert.equal((await ask('POST', sheet.formA, '{"name":"x"}', key)).status, 201)
  const other = await ask('POST', theirs.formA, '{"name":"y"}', { ...key, ...bearer(theirKey) })
  assert.deepEqual([other.status, other.headers.get('idempotent-replayed')], [201, null])
})

test('a key is kept for 24 hours', async (t) => {
  const { rowport, sheet, ask, lines } = await startWithSheet(t)
  const key = { 'Idempotency-Key': 'k' }
  await ask('POST', sheet.formA, '{"name":"x"}', key)
  rowport.clock.advanceMs(24 * hourMs - 1)
  const kept = await ask('POST', sheet.formA, '{"name":"x"}', key)
  assert.equal(kept.headers.get('idempotent-replayed'), 'true')
  rowport.clock.advanceMs(1)
  const fresh = await ask('POST', sheet.formA, '{"name":"x"}', key)
  assert.deepEqual([fresh.status, fresh.headers.get('idempotent-replayed')], [201, null])
  assert.equal((await lines()).length, 5)
})

test('what is not 1 to 255 visible ASCII characters is no key', async (t) => {
  const { sheet, ask, lines } = await startWithSheet(t)
  for (const bad of ['', '""', 'a b', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
    const refused = await ask('POST', sheet.formA, '{"name":"x"}', { 'Idempotency-Key': bad })
    assert.deepEqual([refused.status, refused.json.code], [400, 'bad_request'], JSON.stringify(bad))
    assert.match(refused.json.details, /1 to 255 visible ASCII/)
  }
  for (const good of ['!', 'x'.repeat(255), '"quoted\\"inside"', '~/a?b=c']) {
    const added = await ask('POST', sheet.formA, '{"name":"x"}', { 'Idempotency-Key': good })
    assert.equal(added.status, 201, good)
  }
  assert.equal((await lines()).length, 7)
})

test('a replay costs no quota, and is given when the month is used up; it counts for the minute', async (t) => {
  const { rowport, sheet, ask } = await startWithSheet(t)
  const limits = { requestsPerMinute: 10, requestsPerMonth: 2 }
  done(await rowport.workshop.accounts.setPlan('acme', 'pro', limits))
  const key = { 'Idempotency-Key': 'k' }
  const first = await ask('POST', sheet.formA, '{"name":"x"}', key)
  assert.equal(first.headers.get('x-quota-remaining'), '1')
  await ask('POST', sheet.formA, '{"name":"x"}', key)
  await ask('POST', sheet.formA, '{"name":"x"}', key)
  const second = await ask('POST', sheet.formA, '{"name":"y"}')
  assert.deepEqual([second.status, second.headers.get('x-quota-remaining')], [201, '0'])
  const fresh = await ask('POST', sheet.formA, '{"name":"z"}', { 'Idempotency-Key': 'new' })
  assert.deepEqual([fresh.status, fresh.json.code], [429, 'usage_limit_exceeded'])
  const replayed = await ask('POST', sheet.formA, '{"name":"x"}', key)
  assert.deepEqual([replayed.status, replayed.text], [201, first.text])
  assert.equal(replayed.headers.get('x-ratelimit-remaining'), '4')
  done(await rowport.workshop.accounts.setPlan('acme', 'pro', { ...limits, requestsPerMonth: 3 }))
  const later = await ask('POST', sheet.formA, '{"name":"z"}', { 'Idempotency-Key': 'new' })
  assert.equal(later.status, 201, 'what was refused for the month did not use its key up')
})

async function startWithSheet(t: TestContext) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('sheet', 'sheet.csv', 'name,price\na,1\nb,2\n')
  const apiKey = await rowport.createKey()
  async function ask(
    method: string,
    path: string,
    body: string | null = null,
    headers: Record<string, string> = {},
  ) {
    const answer = await fetch(rowport.url + path, {
      method,
      headers: { ...bearer(apiKey), ...headers },
      ...(body !== null && { body }),
    })
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: the test says what must be in it
    return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) as any }
  }
  const lines = async () => (await readFile(sheet.path, 'utf8')).trimEnd().split('\n')
  return { rowport, sheet, ask, lines }
}
