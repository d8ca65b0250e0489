import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { bearer, done, startRowport } from '../harness.ts'

const flat = {
  api_key_required: { error: 'API key required.', code: 'api_key_required' },
  invalid_api_key: { error: 'Invalid API key', code: 'invalid_api_key' },
  account_not_found: { error: 'Account not found', code: 'account_not_found' },
  sheet_not_found: { error: 'Sheet not found', code: 'sheet_not_found' },
  sheet_paused: { error: 'Sheet is paused', code: 'sheet_paused' },
}
const nested = {
  api_key_required: { error: { code: 'unauthorized', message: 'API key is required' } },
  invalid_api_key: { error: { code: 'forbidden', message: 'Invalid API key' } },
  sheet_not_found: { error: { code: 'sheet_not_found', message: 'Sheet not found' } },
  sheet_paused: { error: { code: 'sheet_paused', message: 'Sheet is paused' } },
}

test('a key opens its account by header, by X-API-Key and by ?api_key=', async (t) => {
  const rowport = await startRowport(t)
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const { value } = await rowport.createKey()
  for (const path of [formA, formB]) {
    assert.equal((await rowport.get(path, { Authorization: `Bearer ${value}` })).status, 200)
    assert.equal((await rowport.get(path, { Authorization: `bearer  ${value}` })).status, 200)
    assert.equal((await rowport.get(path, { 'X-API-Key': value })).status, 200)
    assert.equal((await rowport.get(`${path}?api_key=${value}`)).status, 200)
  }
})

test('only the first key present is judged: Bearer, then X-API-Key, then the query', async (t) => {
  const rowport = await startRowport(t)
  const { formA } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const { value } = await rowport.createKey()
  const status = async (path: string, headers: Record<string, string>) =>
    (await rowport.get(path, headers)).status
  assert.equal(await status(formA, { Authorization: 'Bearer wrong', 'X-API-Key': value }), 403)
  assert.equal(await status(`${formA}?api_key=${value}`, { 'X-API-Key': 'wrong' }), 403)
  assert.equal(await status(`${formA}?api_key=wrong`, { Authorization: `Bearer ${value}` }), 200)
  assert.equal(
    await status(formA, { Authorization: 'Basic abc', 'X-API-Key': value }),
    200,
    'another scheme is absent',
  )
  assert.equal(
    await status(formA, { Authorization: 'Bearer ', 'X-API-Key': value }),
    200,
    'an empty place is absent',
  )
  assert.equal(await status(formA, { Authorization: 'Basic abc' }), 401)
})

test('no key is 401, and every key that does not open the sheet is the same 403', async (t) => {
  const rowport = await startRowport(t)
  done(await rowport.workshop.accounts.create('other', 'pro'))
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  await rowport.connectFile('t', 't.csv', 'a\n1\n')
  const revoked = await rowport.createKey()
  done(await rowport.workshop.keys.revoke(revoked.id))
  const regenerated = await rowport.createKey()
  done(await rowport.workshop.keys.regenerate(regenerated.id))
  const good = await rowport.createKey()
  const wrong = {
    revoked: revoked.value,
    regenerated: regenerated.value,
    'of another account': (await rowport.createKey({ account: 'other' })).value,
    'of another sheet': (await rowport.createKey({ sheet: 't' })).value,
    mistyped: `${good.value.slice(0, -1)}${good.value.endsWith('0') ? '1' : '0'}`,
    'in the wrong case': good.value.toUpperCase(),
    'too long': `${good.value}0`,
    'two at once': `${good.value}, ${good.value}`,
    'not a key': 'nonsense',
  }
  for (const [kind, value] of Object.entries(wrong)) {
    const answerA = await rowport.get(formA, { 'X-API-Key': value })
    assert.equal(answerA.status, 403, kind)
    assert.deepEqual(await answerA.json(), flat.invalid_api_key, kind)
    const answerB = await rowport.get(formB, { 'X-API-Key': value })
    assert.equal(answerB.status, 403, kind)
    assert.deepEqual(await answerB.json(), nested.invalid_api_key, kind)
  }
  const none = await rowport.get(formA)
  assert.equal(none.status, 401)
  assert.equal(none.headers.get('www-authenticate'), 'Bearer')
  assert.deepEqual(await none.json(), flat.api_key_required)
  const noneB = await rowport.get(formB)
  assert.equal(noneB.status, 401)
  assert.deepEqual(await noneB.json(), nested.api_key_required)
})

test('a key made for one sheet opens that one only', async (t) => {
  const rowport = await startRowport(t)
  const first = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const second = await rowport.connectFile('t', 't.csv', 'a\n1\n')
  const key = await rowport.createKey({ sheet: 's' })
  assert.equal((await rowport.get(first.formA, bearer(key))).status, 200)
  assert.equal((await rowport.get(second.formA, bearer(key))).status, 403)
  assert.equal((await rowport.get(second.formB, bearer(key))).status, 403)
})

test('account, then sheet, then key, then paused: the first that fails answers', async (t) => {
  const rowport = await startRowport(t)
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  done(await rowport.workshop.accounts.create('other', 'pro'))
  done(await rowport.workshop.sheets.setPaused('acme', 's', true))
  const cases: [path: string, headers: Record<string, string>, status: number, body: object][] = [
    ['/api/sheets/nobody/s', {}, 404, flat.account_not_found],
    ['/api/sheets/nobody/s', bearer(key), 404, flat.account_not_found],
    ['/api/sheets/acme/nothing', {}, 404, flat.sheet_not_found],
    ['/api/sheets/other/s', bearer(key), 404, flat.sheet_not_found],
    ['/v1/sheets/sh_nothing', {}, 404, nested.sheet_not_found],
    [formA, {}, 401, flat.api_key_required],
    [formB, {}, 401, nested.api_key_required],
    [formA, { 'X-API-Key': 'wrong' }, 403, flat.invalid_api_key],
    [formA, bearer(key), 503, flat.sheet_paused],
    [formB, bearer(key), 503, nested.sheet_paused],
    [`${formA}/not-a-number?limit=x`, bearer(key), 503, flat.sheet_paused],
  ]
  for (const [path, headers, status, body] of cases) {
    const answer = await rowport.get(path, headers)
    assert.equal(answer.status, status, path)
    assert.deepEqual(await answer.json(), body, path)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }
  done(await rowport.workshop.sheets.setPaused('acme', 's', false))
  assert.equal((await rowport.get(formA, bearer(key))).status, 200)
})

test('a public sheet is read without a key, but a wrong key is still refused, and writing needs one', async (t) => {
  const rowport = await startRowport(t)
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n', { access: 'public-read' })
  for (const path of [formA, formB]) {
    assert.equal((await rowport.get(path)).status, 200)
    assert.equal((await rowport.get(path, { 'X-API-Key': 'wrong' })).status, 403)
    const post = await fetch(rowport.url + path, { method: 'POST', body: '{"a":2}' })
    assert.equal(post.status, 401)
  }
})

test('unknown addresses and methods', async (t) => {
  const rowport = await startRowport(t)
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  for (const path of [
    '/nothing',
    '/api',
    '/api/sheets',
    '/api/sheets/acme',
    `${formA}/2/3`,
    `${formA}/`,
    '/api//sheets/acme/s',
  ]) {
    const answer = await rowport.get(path)
    assert.equal(answer.status, 404, path)
    const { code } = (await answer.json()) as { code: string }
    assert.equal(code, 'not_found', path)
  }
  for (const path of ['/v1', '/v1/', '/v1/nothing', `${formB}/2/3`]) {
    const answer = await rowport.get(path)
    assert.equal(answer.status, 404, path)
    const { error } = (await answer.json()) as { error: { code: string } }
    assert.equal(error.code, 'not_found', path)
  }
  for (const [method, path, allow] of [
    ['PROPFIND', formA, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
    ['PROPFIND', `${formB}/2`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['POST', `${formA}/2`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['POST', '/v1/sheets', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const answer = await fetch(rowport.url + path, { method })
    assert.equal(answer.status, 405, `${method} ${path}`)
    assert.equal(answer.headers.get('allow'), allow)
    assert.match(await answer.text(), /"method_not_allowed"/)
  }
})

test('health, readiness and metrics', async (t) => {
  const rowport = await startRowport(t)
  const { formA } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  assert.equal((await rowport.get('/healthz')).status, 200)
  assert.deepEqual(await (await rowport.get('/readyz')).json(), { status: 'ready' })
  await rowport.get(`${formA}?api_key=${key.value}`)
  const metrics = await (await rowport.get('/metrics')).text()
  assert.match(
    metrics,
    /rowport_requests_total\{operation="list_rows",form="a",method="GET",status="200",code=""\} 1/,
  )
  assert.doesNotMatch(metrics, /sk_/)
})

test('a store that cannot be asked is 503 service_unavailable, never an open door', async (t) => {
  const rowport = await startRowport(t)
  const { formA, formB } = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const saboteur = new DatabaseSync(join(rowport.folder, 'rowport.db'))
  saboteur.exec('drop table api_key; drop table migration')
  saboteur.close()
  for (const path of [formA, formB, '/v1/sheets']) {
    const answer = await rowport.get(path, bearer(key))
    assert.equal(answer.status, 503, path)
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.match(await answer.text(), /"service_unavailable"/)
  }
  assert.equal((await rowport.get('/readyz')).status, 503)
  assert.equal((await rowport.get('/healthz')).status, 200)
})
