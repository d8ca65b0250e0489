import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callLimits } from '../../src/providers/remote/remote-calls.ts'
import { CredentialExpired, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { owner, startReadingGround } from './reading-ground.ts'

const values = [['name'], ['tea']]
const oauthCalls = async ({ local }: Awaited<ReturnType<typeof startReadingGround>>) => {
  const { calls } = await local.control<{ calls: { path: string }[] }>('GET', 'calls')
  return calls.filter(({ path }) => path === '/token').length
}

test('a hundred readers at once refresh once', async (t) => {
  const ground = await startReadingGround(t, {
    rations: { perUser: { read: 1_000, write: 1_000 }, perProject: { read: 1_000, write: 1_000 } },
    shares: { fetching_at_once: 100, decoding_waiting: 100 },
  })
  const { place } = await ground.newSpreadsheet(values)
  ground.local.clock.advanceMs(3_600_000)
  const before = await oauthCalls(ground)
  await Promise.all(Array.from({ length: 100 }, () => ground.rows(place)))
  assert.equal((await oauthCalls(ground)) - before, 1)
})

test('a token endpoint that fails in any way expires nothing', async (t) => {
  const ground = await startReadingGround(t, {
    callLimits: { ...callLimits, readMs: 2_000 },
    transportLimits: { silenceMs: 200, maxBodyBytes: 1e6 },
  })
  const { place } = await ground.newSpreadsheet(values)
  const answers = [
    { kind: 'answer', status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } },
    { kind: 'answer', status: 200, body: { access_token: 7 } },
    { kind: 'answer', status: 400, body: { error: 'invalid_request' } },
  ]
  for (const fault of [
    { kind: '500' },
    { kind: '503' },
    { kind: '429' },
    { kind: 'html' },
    { kind: 'reset' },
    { kind: 'hang' },
    { kind: 'truncated' },
    { kind: 'huge' },
    ...answers,
  ]) {
    ground.local.clock.advanceMs(3_600_000)
    await ground.local.control('POST', 'faults', { ...fault, match: { service: 'oauth' }, rate: 1 })
    await assert.rejects(ground.rows(place), (error) => {
      assert.ok(
        error instanceof ProviderFailure && !(error instanceof CredentialExpired),
        JSON.stringify(fault),
      )
      const isOperators = 'body' in fault && fault.status === 401
      if (isOperators) assert.match(error.facts.details ?? '', /GOOGLE_CLIENT_ID/)
      return true
    })
    await ground.local.control('DELETE', 'faults')
  }
  assert.equal(ground.credentials.all.get(ground.credentialId)?.state, 'valid')
  ground.local.clock.advanceMs(5_000)
  assert.deepEqual(await ground.rows(place), [{ name: 'tea' }])
  assert.ok(!ground.seen.some(({ event }) => event === 'credential_expired'))
})

test('an access token that Google ended early is replaced without anyone noticing', async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await ground.newSpreadsheet(values)
  await ground.local.control('POST', `grants/${owner}/expire`)
  assert.deepEqual(await ground.rows(place), [{ name: 'tea' }])
})

test('a revoked grant and a withdrawn scope need the owner, who connects again and goes on', async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await ground.newSpreadsheet(values)
  const takeAway = {
    revoke: () => ground.local.control('POST', `grants/${owner}/revoke`),
    scopes: () => ground.local.control('POST', `grants/${owner}/scopes`, { scopes: ['openid'] }),
  }
  for (const [way, reason] of [
    ['revoke', /^invalid_grant: Token has been expired or revoked/],
    ['scopes', /withdrew the access/],
  ] as const) {
    await takeAway[way]()
    await assert.rejects(ground.rows(place), CredentialExpired)
    assert.equal(ground.credentials.all.get(ground.credentialId)?.state, 'expired')
    assert.match(ground.credentials.all.get(ground.credentialId)?.expiredReason ?? '', reason)
    const { refresh_token } = await ground.local.tokens(owner)
    ground.credentials.connect({ subject: owner, refreshToken: refresh_token })
    assert.deepEqual(await ground.rows(place), [{ name: 'tea' }])
  }
  assert.equal(ground.seen.filter(({ event }) => event === 'credential_expired').length, 2)
})
