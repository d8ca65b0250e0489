import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryCredentials, sealing } from '../../../test/google/memory-credentials.ts'
import { createVirtualTime } from '../../../test/google/virtual-time.ts'
import type { Observation } from '../../reporting/observe.ts'
import { createSealing } from '../../secrets/sealing.ts'
import type { TokenSource } from '../../sheets/connection.ts'
import { CredentialExpired, ProviderFailure } from '../../sheets/provider-failure.ts'
import { createAccessTokens, tokenIdentity } from './access-tokens.ts'
import { createDeadline } from './deadline.ts'

type Refresh = TokenSource['refresh']

const minuteMs = 60_000

function start(refresh: Refresh, opening: Pick<typeof sealing, 'open'> = sealing) {
  const time = createVirtualTime()
  const store = createMemoryCredentials()
  const seen: Observation[] = []
  const asked: string[] = []
  const tokens = createAccessTokens({
    name: 'Acme',
    store,
    sealing: opening,
    clock: time.clock,
    observe: (observation) => seen.push(observation),
    source: {
      refresh(token) {
        asked.push(token)
        return refresh(token)
      },
    },
  })
  const id = store.connect({ subject: 'ada', refreshToken: 'refresh-1' })
  const ask = (allowedMs = 15_000) =>
    tokens.accessToken(id, createDeadline(time.clock, time.timers, allowedMs))
  return { time, store, seen, asked, tokens, id, ask }
}

function numbered(): Refresh {
  let count = 0
  return async () => ({ accessToken: `access-${++count}`, expiresInSeconds: 3_600 })
}

const away = new ProviderFailure('away', { isPassing: true })

test('a hundred callers at once cost one refresh', async () => {
  const { ask, asked } = start(numbered())
  const all = await Promise.all(Array.from({ length: 100 }, () => ask()))
  assert.deepEqual(new Set(all.map(({ token }) => token)), new Set(['access-1']))
  assert.deepEqual(asked, ['refresh-1'])
})

test('a token is renewed ahead of need, while the old one still serves', async () => {
  const { ask, asked, time } = start(numbered())
  await ask()
  await time.pass(54 * minuteMs)
  assert.equal((await ask()).token, 'access-1')
  assert.equal(asked.length, 1)
  await time.pass(1.5 * minuteMs)
  assert.equal((await ask()).token, 'access-1', 'nobody waits')
  await time.pass(0)
  assert.equal((await ask()).token, 'access-2')
  assert.equal(asked.length, 2)
})

test("setting the machine's time makes no token last longer, and none end sooner", async () => {
  for (const hours of [-1, 1]) {
    const { ask, asked, time } = start(numbered())
    await ask()
    time.clock.stepMs(hours * 60 * minuteMs)
    await time.pass(54 * minuteMs)
    assert.equal((await ask()).token, 'access-1')
    assert.equal(asked.length, 1, `${hours} h`)
    await time.pass(5.6 * minuteMs)
    assert.equal((await ask()).token, 'access-2', `${hours} h`)
  }
})

test('a token in its last half minute is not handed out', async () => {
  const { ask, time } = start(numbered())
  await ask()
  await time.pass(59.6 * minuteMs)
  assert.equal((await ask()).token, 'access-2')
})

test('while renewing ahead fails, the old token serves to its end', async () => {
  let isAway = false
  const next = numbered()
  const { ask, time, store, id } = start((token) => (isAway ? Promise.reject(away) : next(token)))
  await ask()
  isAway = true
  for (let minute = 0; minute < 59; minute++) {
    await time.pass(minuteMs)
    assert.equal((await ask()).token, 'access-1')
  }
  await time.pass(minuteMs)
  await assert.rejects(ask(), away)
  assert.equal(store.all.get(id)?.state, 'valid')
  isAway = false
  await time.pass(5_000)
  assert.equal((await ask()).token, 'access-2')
})

test('invalid_grant expires the credential, once, with its reason', async () => {
  const { ask, store, id, seen, asked } = start(async () => ({ dead: 'invalid_grant: revoked' }))
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => ask()))
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof CredentialExpired)
  }
  assert.equal(store.all.get(id)?.expiredReason, 'invalid_grant: revoked')
  assert.deepEqual(seen, [
    { event: 'credential_expired', credentialId: id, reason: 'invalid_grant: revoked' },
  ])
  await assert.rejects(ask(), CredentialExpired)
  assert.equal(asked.length, 1, 'Google is not asked about it any more')
})

test('a failing token endpoint is no expiry, is tried twice, and not again by every reader', async () => {
  const { ask, store, id, asked, time } = start(() => Promise.reject(away))
  for (let reader = 0; reader < 50; reader++) await assert.rejects(ask(), away)
  assert.equal(asked.length, 2)
  await time.pass(3_000)
  await assert.rejects(ask(), away)
  assert.equal(asked.length, 4)
  assert.equal(store.all.get(id)?.state, 'valid')
})

test('connecting again while the old token is found dead leaves the new one alone', async () => {
  const { ask, store, id } = start(async (token) => {
    if (token !== 'refresh-1') return { accessToken: 'new', expiresInSeconds: 3_600 }
    store.connect({ subject: 'ada', refreshToken: 'refresh-2' })
    return { dead: 'invalid_grant' }
  })
  await assert.rejects(
    ask(),
    (error) =>
      !(error instanceof CredentialExpired) &&
      error instanceof ProviderFailure &&
      error.facts.isPassing === true,
  )
  assert.equal((await ask()).token, 'new')
  assert.equal(store.all.get(id)?.state, 'valid')
})

test('after connecting again the old access token is not used any more', async () => {
  const { ask, store } = start(numbered())
  await ask()
  store.connect({ subject: 'grace', refreshToken: 'other' })
  store.connect({ subject: 'ada', refreshToken: 'refresh-2' })
  const { token, version } = await ask()
  assert.deepEqual({ token, version }, { token: 'access-2', version: 2 })
})

test('a token that Google refused is dropped once, however many were refused with it', async () => {
  const { ask, tokens, asked } = start(numbered())
  const all = await Promise.all([ask(), ask(), ask()])
  for (const access of all) {
    tokens.forget(access)
    await ask()
  }
  assert.equal(asked.length, 2)
})

test('a token sealed under another secret needs the owner, but is kept for when the secret is back', async () => {
  const { ask, store, id, seen } = start(numbered(), createSealing('another secret altogether', []))
  await assert.rejects(ask(), CredentialExpired)
  await assert.rejects(ask(), CredentialExpired)
  assert.equal(store.all.get(id)?.state, 'valid')
  assert.deepEqual(seen, [
    { event: 'credential_expired', credentialId: id, reason: 'sealed under another secret' },
  ])
})

test('a caller waits for Google no longer than it may; the others go on waiting', async () => {
  const { promise, resolve } = Promise.withResolvers<{ accessToken: string; expiresInSeconds: number }>()
  const { ask, time } = start(() => promise)
  const hasty = assert.rejects(ask(1_000), ProviderFailure)
  const patient = ask(10_000)
  await time.pass(2_000)
  await hasty
  resolve({ accessToken: 'late', expiresInSeconds: 3_600 })
  assert.equal((await patient).token, 'late')
})

test('no credential, a forgotten one and an expired one need the owner', async () => {
  const { tokens, time } = start(numbered())
  const deadline = createDeadline(time.clock, time.timers, 1_000)
  for (const id of [null, 'cr_nobody'])
    await assert.rejects(tokens.accessToken(id, deadline), CredentialExpired)
})

test('the seal names account, credential and version', () => {
  const identity = { accountId: 'ac_1', credentialId: 'cr_2', version: 3 }
  assert.equal(tokenIdentity(identity), 'credential ac_1 cr_2 3')
})
