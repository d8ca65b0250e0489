import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { SessionView } from '../../src/dashboard/contract.ts'
import { idTokenCases, spoiledIdTokens } from '../connect/spoiled-id-tokens.ts'
import { createVisitor, type Visitor } from '../connect/visitor.ts'
import { ada, grace, startTogether, type Together } from '../connect/with-google.ts'
import type { Rowport } from '../harness.ts'
import { times } from '../soak.ts'

/** To Google and back; where the browser ends up. */
async function goThrough({ google }: Together, visitor: Visitor, consent: object, next = '/keys') {
  await google.control('POST', 'settings', { autoConsent: consent })
  const toGoogle = await visitor.get(`/dashboard/google/sign-in?next=${encodeURIComponent(next)}`)
  assert.equal(toGoogle.status, 303)
  const answer = await fetch(toGoogle.location, { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? 'none:')
  return { asked: new URL(toGoogle.location), back: back.pathname + back.search }
}
const session = (visitor: Visitor) => visitor.call<SessionView>('GET', '/session')

test('with Google: the first time makes an account, the next time finds it; it asks for nothing but who it is', async (t) => {
  const together = await startTogether(t)
  const { rowport } = together
  const first = createVisitor(rowport)
  const { asked, back } = await goThrough(together, first, { user: ada })
  const { state, nonce, code_challenge, client_id, ...rest } = Object.fromEntries(asked.searchParams)
  assert.deepEqual(rest, {
    redirect_uri: `http://127.0.0.1:${rowport.port}/connect/google/callback`,
    response_type: 'code',
    scope: 'openid email',
    prompt: 'select_account',
    code_challenge_method: 'S256',
  })
  assert.equal((await first.get(back)).location, '/keys')
  const made = (await session(first)).json
  assert.equal(made.account.slug, 'ada')
  assert.deepEqual(made.owner, {
    email: ada,
    isEmailVerified: true,
    wantsAlerts: true,
    hasPassword: false,
    hasGoogle: true,
  })
  const again = createVisitor(rowport)
  await again.get((await goThrough(together, again, { user: ada })).back)
  assert.equal((await session(again)).json.account.id, made.account.id)
  const other = createVisitor(rowport)
  await other.get((await goThrough(together, other, { user: grace })).back)
  assert.notEqual((await session(other)).json.account.id, made.account.id)
})

test('whoever signed up with somebody’s address before does not get to share the account with them', async (t) => {
  const together = await startTogether(t)
  const { rowport } = together
  const squatter = createVisitor(rowport)
  const wish = { email: ada, password: 'the squatter’s own', slug: 'squatter' }
  assert.equal((await squatter.call('POST', '/sign-up', wish)).status, 200)
  const victim = createVisitor(rowport)
  const { back } = await goThrough(together, victim, { user: ada })
  assert.equal((await victim.get(back)).location, '/sign-in?problem=google_has_password')
  assert.equal((await session(victim)).status, 401)
  // Whoever is in already may add Google as another way in.
  const mine = await goThrough(together, squatter, { user: ada })
  assert.equal((await squatter.get(mine.back)).location, '/keys')
  const later = createVisitor(rowport)
  await later.get((await goThrough(together, later, { user: ada })).back)
  assert.equal((await session(later)).json.account.slug, 'squatter')
})

test('only the browser that went may come back, once, within ten minutes, and to a page of ours', async (t) => {
  const together = await startTogether(t)
  const { rowport } = together
  const owner = createVisitor(rowport)
  const { back } = await goThrough(together, owner, { user: ada })
  const victim = createVisitor(rowport)
  await goThrough(together, victim, { user: grace })
  assert.equal((await victim.get(back)).location, '/connect?google=state_invalid', 'login CSRF')
  assert.equal((await session(victim)).status, 401)
  assert.equal((await owner.get(back)).location, '/keys')
  const replay = createVisitor(rowport)
  assert.equal((await replay.get(back)).location, '/connect?google=state_invalid')

  const late = createVisitor(rowport)
  const tooLate = await goThrough(together, late, { user: ada })
  rowport.clock.advanceMs(10 * 60_000)
  assert.equal((await late.get(tooLate.back)).location, '/connect?google=state_invalid')
  const hostiles = ['https://evil.test', '//evil.test', '/\\evil.test', '/a\r\nSet-Cookie: x=y']
  for (const next of [...hostiles, `/${'x'.repeat(201)}`]) {
    const visitor = createVisitor(rowport)
    const hostile = await goThrough(together, visitor, { user: ada }, next)
    assert.equal((await visitor.get(hostile.back)).location, '/', next)
  }
})

test('a refusal, a failure and a closed door each say so', async (t) => {
  const together = await startTogether(t)
  const visitor = createVisitor(together.rowport)
  const denied = await goThrough(together, visitor, { user: ada, deny: true })
  assert.equal((await visitor.get(denied.back)).location, '/sign-in?problem=google_denied')
  await together.google.control('POST', 'faults', {
    match: { service: 'oauth', path: '/token' },
    kind: 'reset',
    times: 3,
  })
  const failed = await goThrough(together, visitor, { user: ada })
  assert.equal((await visitor.get(failed.back)).location, '/sign-in?problem=google_failed')
  assert.equal((await session(visitor)).status, 401)

  const closed = await startTogether(t, { signUpPlan: null })
  const stranger = createVisitor(closed.rowport)
  const unknown = await goThrough(closed, stranger, { user: ada })
  assert.equal((await stranger.get(unknown.back)).location, '/sign-in?problem=google_unknown')
})

test('strangers who go to Google leave nothing behind here, and not too often', async (t) => {
  const { rowport } = await startTogether(t)
  const before = rowsIn(rowport)
  const path = `/dashboard/google/sign-in?next=/${'x'.repeat(8_000)}`
  const locations: string[] = []
  let longestCookie = 0
  for (let n = 0; n < times(60, 2_000); n++) {
    const answer = await createVisitor(rowport).get(path)
    assert.equal(answer.status, 303)
    locations.push(answer.location)
    longestCookie = Math.max(longestCookie, ...answer.setCookies.map(({ length }) => length))
  }
  const begun = locations.filter((location) => location.includes('/o/oauth2/')).length
  t.diagnostic(
    `of ${locations.length} that knocked ${begun} were sent to Google; rows before and after: ${before}`,
  )
  assert.equal(begun, 20)
  assert.equal(locations.at(-1), '/sign-in?problem=too_often')
  assert.ok(longestCookie < 600, `a cookie of ${longestCookie} characters`)
  assert.equal(rowsIn(rowport), before)
  rowport.clock.advanceMs(30_000)
  assert.match((await createVisitor(rowport).get(path)).location, /oauth2/)
})

test('what the browser keeps of an attempt can be neither changed nor used again', async (t) => {
  const together = await startTogether(t)
  const { rowport } = together
  const owner = createVisitor(rowport)
  const toGoogle = await owner.get('/dashboard/google/sign-in?next=/keys')
  const [cookie = ''] = (toGoogle.setCookies[0] ?? '').split(';')
  assert.doesNotMatch(Buffer.from(cookie.split('.').at(-1) ?? '', 'base64url').toString('latin1'), /keys/)
  const { back } = await goThrough(together, owner, { user: ada })
  const own = await goThrough(together, createVisitor(rowport), { user: ada })
  for (const changed of [
    cookie,
    `${cookie}A`,
    `${cookie.slice(0, -4)}AAAA`,
    'rowport-google=x',
    'rowport-google=v1.a.b',
  ]) {
    const answer = await createVisitor(rowport).get(own.back, { Cookie: changed })
    assert.equal(answer.location, '/connect?google=state_invalid', changed)
  }
  const once = await fetchWithAttempt(together, { user: ada })
  assert.equal((await createVisitor(rowport).get(once.back, { Cookie: once.cookie })).location, '/')
  const again = await createVisitor(rowport).get(once.back, { Cookie: once.cookie })
  assert.equal(again.location, '/sign-in?problem=google_failed', 'Google takes a code once')
  assert.deepEqual(
    again.setCookies.filter((set) => /^rowport=/.test(set)),
    [],
  )
  assert.equal((await owner.get(back)).location, '/keys')
})

test('only what Google says of this attempt, to us and now, says who somebody is', async (t) => {
  const together = await startTogether(t)
  const { rowport, google } = together
  const outcomes: Record<string, string> = {}
  for (const what of idTokenCases) {
    const { asked, back, cookie, nowSeconds } = await fetchWithAttempt(together, { user: ada })
    const clientId = asked.searchParams.get('client_id') ?? ''
    const nonce = asked.searchParams.get('nonce') ?? ''
    const idToken = spoiledIdTokens({ clientId, nonce, email: ada, nowSeconds })[what]
    await google.control('POST', 'faults', {
      match: { service: 'oauth', path: '/token' },
      kind: 'answer',
      status: 200,
      body: { access_token: 'a', token_type: 'Bearer', expires_in: 3_599, id_token: idToken },
      times: 1,
    })
    outcomes[what] = (await createVisitor(rowport).get(back, { Cookie: cookie })).location
  }
  const { 'as it is': right, ...wrong } = outcomes
  assert.equal(right, '/')
  assert.deepEqual(new Set(Object.values(wrong)), new Set(['/sign-in?problem=google_failed']))
})

/** Until Google has sent the browser back, with what it keeps meanwhile. */
async function fetchWithAttempt({ rowport, google }: Together, consent: object) {
  await google.control('POST', 'settings', { autoConsent: consent })
  const toGoogle = await createVisitor(rowport).get('/dashboard/google/sign-in')
  const [cookie = ''] = (toGoogle.setCookies[0] ?? '').split(';')
  const answer = await fetch(toGoogle.location, { redirect: 'manual' })
  const { pathname, search } = new URL(answer.headers.get('location') ?? 'none:')
  const nowSeconds = Date.parse(answer.headers.get('date') ?? '') / 1_000
  return { asked: new URL(toGoogle.location), back: pathname + search, cookie, nowSeconds }
}

/** In all tables together. */
function rowsIn({ folder }: Rowport): number {
  const database = new DatabaseSync(join(folder, 'rowport.db'), { readOnly: true })
  const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).all()
  const counts = tables.map(({ name }) => database.prepare(`select count(*) as rows from "${name}"`).get())
  database.close()
  return counts.reduce((sum, count) => sum + Number(count?.rows), 0)
}
