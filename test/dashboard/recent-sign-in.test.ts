import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type {
  ConnectionView,
  KeyView,
  RecentSignInRequired,
  SessionView,
} from '../../src/dashboard/contract.ts'
import { routesFor } from '../../src/dashboard/owner-api/routes.ts'
import { providerTable } from '../../src/providers/provider-table.ts'
import { createVisitor, ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import { startTogether } from '../connect/with-google.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

/** The verbs of one provider stand for all: they are made by one function. */
const allRoutes = routesFor([providerTable.google])

const minuteMs = 60_000
const recentMs = 15 * minuteMs
const password = 'correct horse battery'
const ada = { email: 'ada@rowport.test', password, slug: 'ada' }
const required: RecentSignInRequired = 'recent_sign_in_required'

async function signUp(rowport: Rowport): Promise<Visitor> {
  const visitor = createVisitor(rowport)
  assert.equal((await visitor.call('POST', '/sign-up', ada)).status, 200)
  return visitor
}

async function refused(visitor: Visitor, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await visitor.call<{ error: { code: string; message: string } }>(method, path, body)
  assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`)
  assert.equal(answer.json.error.code, required)
  assert.deepEqual(answer.setCookies, [])
}

test('what ends something for good needs a sign-in of the last 15 minutes; nothing happens without', async (t) => {
  const { rowport, connect } = await startTogether(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'a\n1\n')
  const key = await rowport.createKey()
  const owner = await signedIn(rowport)
  await connect(owner)
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  done((await rowport.workshop.uploads?.save(id, 'x.csv', Readable.from([Buffer.from('a\n1\n')]))) ?? null)
  await rowport.workshop.store.createWebhook({
    ...{
      id: 'wh_x',
      accountId: id,
      sheetId: null,
      url: 'https://hooks.invalid/',
      kinds: null,
      columns: null,
    },
    secret: { sealed: 'x', keyId: 'x' },
    place: { epoch: null, seq: 0 },
  })
  const verbs: [method: string, path: string, body?: unknown][] = [
    ['POST', `/keys/${key.id}/rotate`, { overlapSeconds: 3_600 }],
    ['POST', `/keys/${key.id}/regenerate`],
    ['POST', '/google/disconnect'],
    ['POST', '/webhooks/wh_x/rotate'],
    ['DELETE', '/sheets/s'],
    ['DELETE', '/files/x.csv'],
    ['POST', '/email', { email: 'x@example.com' }],
    ['POST', '/account/delete', { confirmSlug: 'acme' }],
  ]
  const marked = allRoutes.filter((route) => 'needsRecentSignIn' in route)
  assert.deepEqual(
    marked.map(({ method, path }) => `${method} ${path}`).sort(),
    verbs
      .map(([method, path]) =>
        `${method} ${path}`
          .replace(key.id, '{id}')
          .replace('wh_x', '{id}')
          .replace('/sheets/s', '/sheets/{slug}')
          .replace('x.csv', '{name}'),
      )
      .sort(),
  )
  rowport.clock.advanceMs(recentMs + 1)
  for (const verb of verbs) await refused(owner, ...verb)
  await refused(owner, 'POST', '/password', { current: null, next: password, email: ada.email })
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200)
  const google = await owner.call<{ connection: { state: string } }>('GET', '/google')
  assert.equal(google.json.connection.state, 'valid')
  // Everything else goes on as before: reading, making, pausing.
  assert.equal((await owner.call('PATCH', '/sheets/s', { paused: true })).status, 200)
  const wish = { name: 'k', mode: 'live', scope: 'read', sheetSlug: null }
  assert.equal((await owner.call('POST', '/keys', wish)).status, 201)
  assert.equal((await owner.call<SessionView>('GET', '/session')).json.owner.email, null)
  const leaked = await rowport.createKey()
  assert.equal(
    (await owner.call('POST', `/keys/${leaked.id}/revoke`)).status,
    200,
    'nor does ending a key wait',
  )

  const again = await signedIn(rowport)
  rowport.clock.advanceMs(recentMs)
  for (const [method, path, body] of verbs) {
    const answer = await again.call(method, path, body)
    // This server sends no mail, which is what is said of addresses once it is clear who asks.
    const isFine = path === '/email' ? /doesn’t send email/.test(answer.text) : answer.status <= 201
    assert.ok(isFine, `${method} ${path}: ${answer.text}`)
  }
})

test('an old session does not put another Google account in the place of one that works', async (t) => {
  const { rowport, google, connect, askGoogle } = await startTogether(t)
  const connection = async (visitor: Visitor) =>
    (await visitor.call<ConnectionView>('GET', '/google')).json.connection
  const owner = await signedIn(rowport)
  rowport.clock.advanceMs(recentMs + 1)
  await google.control('POST', 'settings', { autoConsent: { user: 'grace@example.com' } })
  const begunBefore = await askGoogle(owner)
  assert.match((await connect(owner)).location, /google=connected/, 'the first time needs none')

  await refused(owner, 'POST', '/google/connect', { returnTo: '/settings' })
  const late = await owner.get(begunBefore.pathname + begunBefore.search)
  assert.equal(late.location, '/connect?google=failed', 'nor by an attempt from before')
  assert.equal((await connection(owner))?.email, 'ada@example.com')

  const recent = await signedIn(rowport)
  await google.control('POST', 'settings', { autoConsent: { user: 'grace@example.com' } })
  rowport.clock.advanceMs(recentMs)
  const back = await askGoogle(recent)
  rowport.clock.advanceMs(minuteMs)
  assert.match((await recent.get(back.pathname + back.search)).location, /google=other_account/)
  assert.equal((await connection(recent))?.email, 'grace@example.com')

  const again = await signedIn(rowport)
  assert.equal((await again.call('POST', '/google/disconnect')).status, 200)
  assert.equal((await connection(owner))?.state, 'expired')
  const reconnected = await connect(owner, { user: 'grace@example.com' })
  assert.match(reconnected.location, /google=reconnected/, 'one that is over is renewed as before')
})

test('the password confirms: for this browser alone, under a new id, and for 15 minutes', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signUp(rowport)
  const elsewhere = createVisitor(rowport)
  await elsewhere.call('POST', '/sign-in', { email: ada.email, password })
  const wish = { name: 'k', mode: 'live', scope: 'read', sheetSlug: null }
  const made = await owner.call<{ key: KeyView }>('POST', '/keys', wish)
  const regenerate = `/keys/${made.json.key.id}/regenerate`
  rowport.clock.advanceMs(60 * minuteMs)
  await refused(owner, 'POST', regenerate)

  const wrong = await owner.call<{ error: { field?: string } }>('POST', '/confirm', { password: 'a guess' })
  assert.deepEqual([wrong.status, wrong.json.error.field], [400, 'password'])
  await refused(owner, 'POST', regenerate)
  const former = owner.cookie
  const right = await owner.call<SessionView>('POST', '/confirm', { password })
  assert.equal(right.status, 200, right.text)
  assert.equal(right.json.signedInAtMs, rowport.clock.nowMs())
  assert.notEqual(owner.cookie, former)
  const thief = createVisitor(rowport)
  thief.cookie = former
  assert.equal(
    (await thief.call('GET', '/session')).status,
    401,
    'a copy of the former cookie is worth nothing',
  )
  await refused(elsewhere, 'POST', regenerate)
  assert.equal((await elsewhere.call('GET', '/session')).status, 200, 'the other session goes on')
  assert.equal((await owner.call('POST', regenerate)).status, 201)
  rowport.clock.advanceMs(recentMs + 1)
  await refused(owner, 'POST', regenerate)
  const stranger = await createVisitor(rowport).call('POST', '/confirm', { password })
  assert.equal(stranger.status, 401)
})

test('a current password is as good as a sign-in when it is changed', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signUp(rowport)
  rowport.clock.advanceMs(60 * minuteMs)
  const change = await owner.call('POST', '/password', { current: password, next: 'another password' })
  assert.equal(change.status, 200, change.text)
})

test('guessing in a session is slowed down by one count, whether at the confirmation or the change', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signUp(rowport)
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) {
    const guess = { password: `guess number ${n}` }
    statuses.push((await owner.call('POST', '/confirm', guess)).status)
    statuses.push((await owner.call('POST', '/password', { current: guess.password, next: password })).status)
  }
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400, 429, 429])
  const wait = await owner.call('POST', '/confirm', { password })
  assert.deepEqual([wait.status, wait.headers['retry-after']], [429, '30'])
  rowport.clock.advanceMs(30_000)
  assert.equal((await owner.call('POST', '/confirm', { password })).status, 200)
})

test('without a password another sign-in confirms: a new link, or Google', async (t) => {
  const { rowport, google } = await startTogether(t)
  const owner = await signedIn(rowport)
  rowport.clock.advanceMs(recentMs + 1)
  const first = { current: null, next: password, email: 'acme@rowport.test' }
  await refused(owner, 'POST', '/password', first)
  const none = await owner.call<{ error: { code: string } }>('POST', '/confirm', { password: '' })
  assert.deepEqual([none.status, none.json.error.code], [403, 'not_allowed'])
  const { token } = (await rowport.workshop.signIn.createLink('acme')) as { token: string }
  assert.equal((await owner.call('POST', '/sign-in-link', { token })).status, 200)
  assert.equal((await owner.call('POST', '/password', first)).status, 200)

  await google.control('POST', 'settings', { autoConsent: { user: 'grace@example.com' } })
  const grace = createVisitor(rowport)
  const throughGoogle = async () => {
    const away = await grace.get('/dashboard/google/sign-in?next=/confirmed')
    const back = new URL((await fetch(away.location, { redirect: 'manual' })).headers.get('location') ?? '')
    return (await grace.get(back.pathname + back.search)).location
  }
  assert.equal(await throughGoogle(), '/confirmed')
  const session = await grace.call<SessionView>('GET', '/session')
  assert.deepEqual(session.json.owner, {
    email: 'grace@example.com',
    isEmailVerified: true,
    wantsAlerts: true,
    hasPassword: false,
    hasGoogle: true,
  })
  rowport.clock.advanceMs(recentMs + 1)
  const end = { confirmSlug: session.json.account.slug }
  await refused(grace, 'POST', '/account/delete', end)
  await throughGoogle()
  assert.equal((await grace.call('POST', '/account/delete', end)).status, 200)
})

test('a session that ended while a body was held back does nothing any more', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signUp(rowport)
  const credentials = { email: ada.email, password }
  const thief = createVisitor(rowport)
  assert.equal((await thief.call('POST', '/sign-in', credentials)).status, 200)
  const text = JSON.stringify({ confirmSlug: ada.slug })
  const held = request({
    host: '127.0.0.1',
    port: rowport.port,
    method: 'POST',
    path: '/dashboard/api/account/delete',
    headers: {
      ...ownPage,
      Cookie: thief.cookie,
      'Content-Type': 'application/json',
      'Content-Length': text.length,
    },
  })
  held.write(text.slice(0, 5))
  const answered = once(held, 'response') as Promise<[IncomingMessage]>
  assert.equal((await owner.call('POST', '/sign-out-everywhere')).status, 200)
  held.end(text.slice(5))
  const [answer] = await answered
  answer.resume()
  assert.equal(answer.statusCode, 401)
  assert.equal(
    (await createVisitor(rowport).call('POST', '/sign-in', credentials)).status,
    200,
    'the account is there',
  )
})
