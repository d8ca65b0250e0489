import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionView } from '../../src/dashboard/contract.ts'
import { createVisitor, type Visitor } from '../connect/visitor.ts'
import { ada, grace, startTogether, type Together } from '../connect/with-google.ts'

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
  const { state, code_challenge, client_id, ...rest } = Object.fromEntries(asked.searchParams)
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
  assert.deepEqual(made.owner, { email: ada, hasPassword: false, hasGoogle: true })
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
  for (const next of ['https://evil.test', '//evil.test', '/\\evil.test', '/a\r\nSet-Cookie: x=y']) {
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
