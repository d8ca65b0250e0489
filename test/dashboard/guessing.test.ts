import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyView, SessionView } from '../../src/dashboard/contract.ts'
import { createVisitor, ownPage, refusalIn, type Visitor } from '../connect/visitor.ts'
import { bearer, type Rowport, startRowport } from '../harness.ts'
import { times } from '../soak.ts'

const password = 'correct horse battery'
const ada = { email: 'ada@example.com', password, slug: 'ada' }
const home = '198.51.100.7'
const minuteMs = 60_000

/** Behind a proxy that says from where each request comes. */
function startBehindProxy(t: Parameters<typeof startRowport>[0]): Promise<Rowport> {
  return startRowport(t, { settings: { trustedProxies: ['127.0.0.1'] } })
}

function from<Json>(visitor: Visitor, address: string, path: string, body?: unknown) {
  return visitor.call<Json>('POST', path, body, { ...ownPage, 'X-Forwarded-For': address })
}

async function signUpAtHome(rowport: Rowport): Promise<Visitor> {
  const owner = createVisitor(rowport)
  assert.equal((await from(owner, home, '/sign-up', ada)).status, 200)
  return owner
}

test('guessing at somebody’s password from elsewhere keeps them neither from signing in nor from confirming', async (t) => {
  const rowport = await startBehindProxy(t)
  const owner = await signUpAtHome(rowport)
  const made = await from<{ key: KeyView; value: string }>(owner, home, '/keys', {
    name: 'leaked',
    mode: 'live',
    scope: 'read',
    sheetSlug: null,
  })
  const attacker = createVisitor(rowport)
  const guess = () => from(attacker, '203.0.113.9', '/sign-in', { email: ada.email, password: 'a wrong one' })
  const told: number[] = []
  for (let rounds = 0; rounds < 4; rounds++) {
    let answer = await guess()
    while (answer.status === 401) answer = await guess()
    assert.equal(answer.status, 429)
    told.push(Number(answer.headers['retry-after']))

    const atHome = createVisitor(rowport)
    const signedIn = await from(atHome, home, '/sign-in', { email: ada.email, password })
    assert.equal(signedIn.status, 200, `round ${rounds}: ${signedIn.text}`)
    const confirmed = await from(owner, home, '/confirm', { password })
    assert.equal(confirmed.status, 200, `round ${rounds}: ${confirmed.text}`)
    rowport.clock.advanceMs(Number(answer.headers['retry-after']) * 1_000)
  }
  t.diagnostic(`the one who guesses waits ${told.join(', ')} s; the owner was let in at once each time`)
  assert.ok((told.at(-1) ?? 0) > 100, 'whoever guesses waits longer and longer')

  rowport.clock.advanceMs(60 * minuteMs)
  const revoked = await from(owner, home, `/keys/${made.json.key.id}/revoke`)
  assert.equal(revoked.status, 200, 'a key is ended without a recent sign-in')
  assert.equal((await rowport.get('/v1/sheets', bearer(made.json))).status, 403)
})

test('when many networks guess at once each gets fewer tries, and the owner still comes in', async (t) => {
  const rowport = await startBehindProxy(t)
  await signUpAtHome(rowport)
  const networks = times(16, 100)
  let guesses = 0
  const perNetworkInSiege: number[] = []
  for (let n = 0; n < networks; n++) {
    const attacker = createVisitor(rowport)
    let passed = 0
    for (let tried = 0; tried < 5; tried++) {
      const wrong = { email: ada.email, password: `guess ${n} ${tried}` }
      if ((await from(attacker, `203.0.113.${n}`, '/sign-in', wrong)).status === 401) passed++
    }
    guesses += passed
    if (guesses - passed >= 60) perNetworkInSiege.push(passed)
  }
  assert.ok(perNetworkInSiege.length > 2)
  assert.deepEqual([...new Set(perNetworkInSiege)], [3])
  const owner = createVisitor(rowport)
  const answer = await from<SessionView>(owner, home, '/sign-in', { email: ada.email, password })
  assert.equal(answer.status, 200, answer.text)
  t.diagnostic(
    `${guesses} guesses from ${networks} networks in a moment; the owner came in with the first try`,
  )
})

test('whoever has a session is counted by it: neither sign-ins nor other sessions use its tries up', async (t) => {
  const rowport = await startBehindProxy(t)
  const owner = await signUpAtHome(rowport)
  const thief = createVisitor(rowport)
  await from(thief, '203.0.113.9', '/sign-in', { email: ada.email, password })
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) {
    statuses.push((await from(thief, '203.0.113.9', '/confirm', { password: `guess ${n}` })).status)
    const change = { current: `guess ${n}`, next: 'another password' }
    statuses.push((await from(thief, '203.0.113.9', '/password', change)).status)
  }
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400, 429, 429], 'one count for both doors')
  assert.equal((await from(owner, home, '/confirm', { password })).status, 200)
})

test('at the sign-up a network hears of known e-mail addresses only a few times, and late', async (t) => {
  const rowport = await startBehindProxy(t)
  await signUpAtHome(rowport)
  const tries = ['198.51.100.20', '198.51.100.21']
  const attempt = (address: string, wish: object) =>
    from(createVisitor(rowport), address, '/sign-up', { ...ada, ...wish })
  const [prober = '', newcomer = ''] = tries
  assert.match(refusalIn(await attempt(prober, { slug: 'ada' })), /account name is taken/, 'slugs are public')
  const statuses: number[] = []
  for (let n = 0; n < 5; n++) statuses.push((await attempt(prober, { slug: `probe-${n}` })).status)
  assert.deepEqual(statuses, [409, 409, 409, 429, 429])
  const unknown = await attempt(prober, { slug: 'unknown', email: 'unknown@example.com' })
  assert.equal(unknown.status, 429, 'nor does it hear of unknown ones')
  const other = await attempt(newcomer, { slug: 'grace', email: 'grace@example.com' })
  assert.equal(other.status, 200, 'others sign up as before')
  rowport.clock.advanceMs(10 * minuteMs)
  assert.equal((await attempt(prober, { slug: 'later', email: 'later@example.com' })).status, 200)
})
