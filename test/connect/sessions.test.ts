import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiPrefix, routesFor } from '../../src/dashboard/owner-api/routes.ts'
import { connectableKinds } from '../../src/providers/provider-table.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { createVisitor, ownPage, refusalIn, signedIn } from './visitor.ts'

const allRoutes = routesFor(connectableKinds)

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const isIn = async (visitor: Awaited<ReturnType<typeof signedIn>>) =>
  (await visitor.call('GET', '/session')).status === 200

test('a sign-in link: looking at it does not use it up, following it works once, for fifteen minutes', async (t) => {
  const rowport = await startRowport(t)
  const link = async () => done(await rowport.workshop.signIn.createLink('acme')).token
  const follow = (token: string) => createVisitor(rowport).call('POST', '/sign-in-link', { token })
  const token = await link()
  // A chat's preview and a mail scanner come first; some only ask with HEAD.
  for (const method of ['GET', 'HEAD', 'GET']) {
    const seen = await fetch(`${rowport.url}/sign-in-link?token=${token}`, { method })
    assert.deepEqual(seen.headers.getSetCookie(), [])
  }
  const owner = createVisitor(rowport)
  const answer = await owner.call<{ account: { slug: string } }>('POST', '/sign-in-link', { token })
  assert.equal(answer.status, 200)
  assert.equal(answer.json.account.slug, 'acme')
  assert.ok(await isIn(owner))

  const refused = await follow(token)
  assert.equal(refused.status, 400)
  assert.deepEqual(refused.setCookies, [])
  assert.match(refusalIn(refused), /already been used or has expired/)

  const late = await link()
  rowport.clock.advanceMs(15 * minuteMs)
  assert.equal((await follow(late)).status, 400)
  const inTime = await link()
  rowport.clock.advanceMs(15 * minuteMs - 1)
  assert.equal((await follow(inTime)).status, 200)
  for (const nonsense of ['', 'x', 'a'.repeat(43), '../../x', 'ä'.repeat(43)]) {
    assert.equal((await follow(nonsense)).status, 400, nonsense)
  }
})

test('two who follow one link at once: one is signed in', async (t) => {
  const rowport = await startRowport(t)
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => createVisitor(rowport).call('POST', '/sign-in-link', { token })),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('the cookie: long and random, out of reach of scripts, and with the strongest name that the address allows', async (t) => {
  const plain = await startRowport(t, { settings: { baseUrl: 'http://rowport.test' } })
  const secure = await startRowport(t, { settings: { baseUrl: 'https://rowport.test' } })
  const cookieOf = async (rowport: typeof plain) => {
    const { token } = done(await rowport.workshop.signIn.createLink('acme'))
    return (await createVisitor(rowport).call('POST', '/sign-in-link', { token })).setCookies[0]
  }
  const shape = 'rowport=[\\w-]{43}; Max-Age=1209600; Path=/; HttpOnly; SameSite=Lax'
  assert.match((await cookieOf(plain)) ?? '', new RegExp(`^${shape}$`))
  assert.match((await cookieOf(secure)) ?? '', new RegExp(`^__Host-${shape}; Secure$`))
  assert.notEqual(await cookieOf(plain), await cookieOf(plain))

  // The plain name is no good where the other is: it could have been planted over http.
  const owner = await signedIn(secure)
  assert.ok(await isIn(owner))
  owner.cookie = owner.cookie.replace('__Host-', '')
  assert.equal(await isIn(owner), false)
})

test('nothing that opens a session is in the store as it is', async (t) => {
  const rowport = await startRowport(t)
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  const owner = await signedIn(rowport)
  const password = 'correct horse battery'
  const set = { current: null, next: password, email: 'ada@example.com' }
  assert.equal((await owner.call('POST', '/password', set)).status, 200)
  const [, sessionId = ''] = owner.cookie.split('=')
  await rowport.stopServer()
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(`${rowport.folder}/rowport.db`, { readOnly: true })
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
  const all = JSON.stringify(tables.map(({ name }) => database.prepare(`select * from "${name}"`).all()))
  database.close()
  assert.ok(all.includes('ada@example.com') && all.includes('$argon2id$'))
  assert.ok(sessionId.length === 43)
  for (const secret of [token, sessionId, password]) assert.ok(!all.includes(secret))
  assert.ok(!JSON.stringify(rowport.seen).includes(password))
})

test('a session that was planted before signing in does not become one (fixation)', async (t) => {
  const rowport = await startRowport(t)
  const planted = `rowport=${'p'.repeat(43)}`
  const victim = createVisitor(rowport)
  victim.cookie = planted
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  assert.equal((await victim.call('POST', '/sign-in-link', { token })).status, 200)
  assert.notEqual(victim.cookie, planted)
  const attacker = createVisitor(rowport)
  attacker.cookie = planted
  assert.equal(await isIn(attacker), false)

  // Nor does the attacker's own session stay good when the victim signs in over it.
  const own = await signedIn(rowport)
  const before = own.cookie
  const next = done(await rowport.workshop.signIn.createLink('acme'))
  await own.call('POST', '/sign-in-link', { token: next.token })
  assert.notEqual(own.cookie, before)
  attacker.cookie = before
  assert.equal(await isIn(attacker), false)
})

test('a session ends: on signing out at once, everywhere when asked, after twelve hours of nothing, after two weeks in any case', async (t) => {
  const rowport = await startRowport(t)
  const leaving = await signedIn(rowport)
  const { cookie } = leaving
  const out = await leaving.call('POST', '/sign-out')
  assert.match(out.setCookies[0] ?? '', /^rowport=; Max-Age=0; Path=\//)
  leaving.cookie = cookie
  assert.equal(await isIn(leaving), false, 'also for whoever kept a copy')

  const [here, there] = [await signedIn(rowport), await signedIn(rowport)]
  assert.equal((await here.call('POST', '/sign-out-everywhere')).status, 200)
  assert.equal(await isIn(there), false)

  const idle = await signedIn(rowport)
  rowport.clock.advanceMs(12 * hourMs)
  assert.ok(await isIn(idle))
  rowport.clock.advanceMs(12 * hourMs + 1)
  assert.equal(await isIn(idle), false)

  const busy = await signedIn(rowport)
  for (let hours = 0; hours < 14 * 24; hours += 8) {
    assert.ok(await isIn(busy), `after ${hours} h`)
    rowport.clock.advanceMs(8 * hourMs)
  }
  rowport.clock.advanceMs(1)
  assert.equal(await isIn(busy), false)
})

test('a write counts only when a page of ours sent it (CSRF), and another site may not even read', async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'https://rowport.test' } })
  const owner = await signedIn(rowport)
  const own = { 'X-Rowport-Dashboard': '1' }
  const refused: [name: string, headers: Record<string, string>][] = [
    ['another site', { ...own, 'Sec-Fetch-Site': 'cross-site' }],
    ['a sibling host', { ...own, 'Sec-Fetch-Site': 'same-site' }],
    [
      'another site with our origin',
      { ...own, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://rowport.test' },
    ],
    ['an old browser on another site', { ...own, Origin: 'https://evil.test' }],
    ['a sandboxed frame', { ...own, Origin: 'null' }],
    ['no browser', own],
    ['a form of our own host', { 'Sec-Fetch-Site': 'same-origin' }],
    ['with another value', { 'Sec-Fetch-Site': 'same-origin', 'X-Rowport-Dashboard': 'true' }],
  ]
  const writes = allRoutes.filter(({ method }) => method !== 'GET')
  assert.ok(writes.length >= 15)
  for (const { method, path } of writes) {
    for (const [name, headers] of refused) {
      const answer = await owner.call(method, path.replaceAll(/\{\w+\}/g, 'x'), {}, headers)
      assert.equal(answer.status, 403, `${method} ${path} from ${name}`)
      assert.deepEqual(answer.setCookies, [])
    }
  }
  assert.ok(await isIn(owner), 'nobody was signed out')
  for (const { path } of allRoutes.filter(({ method }) => method === 'GET')) {
    const address = path.replaceAll(/\{\w+\}/g, 'x')
    const elsewhere = await owner.call('GET', address, undefined, { 'Sec-Fetch-Site': 'cross-site' })
    assert.equal(elsewhere.status, 403, path)
    assert.equal(elsewhere.headers['access-control-allow-origin'], undefined)
  }
  const old = await signedIn(rowport)
  const oldBrowser = { ...own, Origin: 'https://rowport.test' }
  assert.equal((await old.call('POST', '/sign-out', undefined, oldBrowser)).status, 200)
})

test('what is sent is held to what is expected: JSON, not too long, nothing unknown', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const key = { name: 'k', mode: 'live', scope: 'read', sheetSlug: null }
  const wrong: [body: unknown, field: string | undefined][] = [
    [{ ...key, more: 1 }, undefined],
    [{ ...key, mode: 'both' }, 'mode'],
    [{ ...key, name: 7 }, 'name'],
    [{ ...key, name: ' ' }, 'name'],
    [[], undefined],
    [null, undefined],
  ]
  for (const [body, field] of wrong) {
    const answer = await owner.call<{ error: { field?: string } }>('POST', '/keys', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal(answer.json.error.field, field)
  }
  const asText = await owner.call('POST', '/keys', key, { ...ownPage, 'Content-Type': 'text/plain' })
  assert.equal(asText.status, 400)
  const long = await owner.call('POST', '/keys', { ...key, name: 'x'.repeat(70_000) })
  assert.equal(long.status, 413)
  assert.deepEqual(done(await rowport.workshop.keys.list('acme')), [])
})

test('keys are no good at the dashboard, and the cookie is none at the API', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  for (const route of allRoutes.filter((one) => 'owner' in one)) {
    for (const headers of [{}, bearer(key), { 'X-API-Key': key.value }]) {
      const path = route.path.replaceAll(/\{\w+\}/g, 's')
      const answer = await fetch(`${rowport.url}${apiPrefix}${path}?api_key=${key.value}`, {
        method: route.method,
        headers: { ...headers, ...ownPage },
      })
      assert.equal(answer.status, 401, `${route.method} ${route.path}`)
      await answer.body?.cancel()
    }
  }
  for (const path of [sheet.formA, sheet.formB, '/v1/sheets']) {
    for (const method of ['GET', 'POST']) {
      const withCookie = await fetch(rowport.url + path, { method, headers: { Cookie: owner.cookie } })
      const without = await fetch(rowport.url + path, { method })
      assert.equal(withCookie.status, without.status)
      assert.equal(await withCookie.text(), await without.text())
      assert.ok([401, 405].includes(without.status))
    }
  }
})

test('everything comes with the headers that keep a browser out of trouble, under the path that people use', async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'https://rowport.test/under/here' } })
  const owner = await signedIn(rowport)
  const answers = [
    await owner.get('/'),
    await owner.get('/sheets/some-sheet/console'),
    await owner.get('/connect/google/callback?state=x'),
    await owner.get('/dashboard/google/sign-in'),
    await owner.call('GET', '/session'),
    await owner.call('GET', '/sheets/nothing-here'),
    await createVisitor(rowport).call('GET', '/session'),
    await owner.call('POST', '/sign-out', undefined, {}),
  ]
  assert.deepEqual(
    answers.slice(2).map(({ status }) => status),
    [303, 303, 200, 404, 401, 403],
  )
  for (const { headers, status } of answers) {
    assert.match(headers['content-security-policy'] ?? '', /^default-src 'none';.*frame-ancestors 'none'/)
    assert.doesNotMatch(headers['content-security-policy'] ?? '', /unsafe|\*/)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    assert.equal(headers['strict-transport-security'], 'max-age=31536000')
    assert.equal(headers['access-control-allow-origin'], undefined)
    if (status === 303) assert.match(headers.location ?? '', /^\/under\/here\//)
  }
})

test('what is asked in a way that is not offered is told which ways are', async (t) => {
  const rowport = await startRowport(t)
  const allowed: Record<string, string> = {
    '/': 'GET, HEAD, OPTIONS',
    '/connect/google/callback': 'GET, OPTIONS',
    '/dashboard/google/sign-in': 'GET, OPTIONS',
    '/dashboard/api/sign-out': 'POST, OPTIONS',
    '/dashboard/api/keys': 'GET, POST, HEAD, OPTIONS',
  }
  for (const [path, methods] of Object.entries(allowed)) {
    const answer = await fetch(rowport.url + path, { method: 'DELETE' })
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.get('allow'), methods)
    assert.equal(((await answer.json()) as { code: string }).code, 'method_not_allowed')
  }
  // It would use up what the owner brings back from Google.
  assert.equal((await fetch(`${rowport.url}/connect/google/callback`, { method: 'HEAD' })).status, 405)
})

test('what is for the dashboard’s own pages tells no other page that it may ask', async (t) => {
  const rowport = await startRowport(t)
  const headers = { Origin: 'https://elsewhere.test', 'Access-Control-Request-Method': 'DELETE' }
  for (const path of ['/dashboard/api/keys', '/dashboard/google/sign-in', '/dashboard/api/nothing']) {
    const options = await fetch(rowport.url + path, { method: 'OPTIONS', headers })
    assert.equal(options.status, 204, path)
    const refused = await fetch(rowport.url + path, { method: 'DELETE', headers })
    assert.equal(refused.status, path === '/dashboard/api/nothing' ? 404 : 405, path)
    for (const answer of [options, refused]) {
      const told = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))
      assert.deepEqual(told, [], `${answer.status} at ${path}`)
    }
  }
})
