import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { googleEndpoints } from '../../src/providers/google/client/google-endpoints.ts'
import { pickedIdsIn } from '../../src/providers/google/oauth/google-consent.ts'
import { createGoogleOAuth } from '../../src/providers/google/oauth/google-oauth.ts'
import { problemOfConsent } from '../../src/providers/google/oauth/oauth-problem.ts'
import { createTransport } from '../../src/providers/remote/transport.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { systemTimers } from '../../src/timers.ts'
import { spoiledIdTokens } from '../connect/spoiled-id-tokens.ts'
import { driveFile, redirectUri, spreadsheetsScope, startLocalGoogle } from '../emulator/harness.ts'

async function start(t: TestContext, scope: 'drive.file' | 'spreadsheets' = 'drive.file') {
  const local = await startLocalGoogle(t, { settings: { autoConsent: { user: 'grace@example.com' } } })
  const transport = createTransport({ silenceMs: 5_000, maxBodyBytes: 1_000_000 })
  t.after(() => transport.close())
  const oauth = createGoogleOAuth({
    endpoints: googleEndpoints(local.url),
    transport,
    clock: local.clock,
    timers: systemTimers,
    client: { clientId: 'shop', clientSecret: 'right' },
    scope,
  })
  const verifier = randomBytes(32).toString('base64url')
  /** The owner's way through Google's page, and what the browser brings back. */
  const consent = async () => {
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
    const url = oauth.consentUrl({ state: 'mine', codeChallenge, redirectUri })
    const answer = await fetch(url, { redirect: 'manual' })
    return new URL(answer.headers.get('location') ?? '').searchParams
  }
  const exchange = async (given: Partial<{ code: string; verifier: string; redirectUri: string }> = {}) =>
    oauth.exchangeCode({
      code: given.code ?? (await consent()).get('code') ?? '',
      verifier,
      redirectUri,
      ...given,
    })
  return { local, oauth, verifier, consent, exchange }
}

test('consent, code, tokens and whose they are; and access ends when it is given back', async (t) => {
  for (const [scope, url, subject] of [
    ['drive.file', driveFile, /^\d{20}$/],
    ['spreadsheets', spreadsheetsScope, /^\d{21}$/],
  ] as const) {
    const { oauth, consent, exchange } = await start(t, scope)
    const back = await consent()
    assert.equal(back.get('state'), 'mine')
    const grant = await exchange({ code: back.get('code') ?? '' })
    assert.ok(!('problem' in grant), JSON.stringify(grant))
    assert.equal(grant.email, 'grace@example.com')
    assert.match(grant.subject, subject)
    assert.ok(grant.scopes.includes(url))
    assert.equal(grant.expiresInSeconds, 3_599)
    const refreshed = await oauth.refresh(grant.refreshToken)
    assert.ok('accessToken' in refreshed && refreshed.accessToken !== grant.accessToken)
    assert.equal(await oauth.revoke(grant.refreshToken), true)
    assert.equal(await oauth.revoke(grant.refreshToken), false)
    assert.deepEqual(await oauth.refresh(grant.refreshToken), {
      dead: 'invalid_grant: Token has been expired or revoked.',
    })
  }
})

test('the consent asks for what is needed and for nothing else', async (t) => {
  const always = {
    client_id: 'shop',
    redirect_uri: redirectUri,
    response_type: 'code',
    access_type: 'offline',
    prompt: 'consent',
    state: 's',
    code_challenge: 'c',
    code_challenge_method: 'S256',
  }
  const asked = {
    // Google's picker is opened with this one scope alone, or not at all.
    'drive.file': {
      ...always,
      scope: driveFile,
      include_granted_scopes: 'false',
      trigger_onepick: 'true',
      allow_multiple: 'true',
      mimetypes: 'application/vnd.google-apps.spreadsheet',
    },
    spreadsheets: {
      ...always,
      scope: `openid email ${spreadsheetsScope}`,
      include_granted_scopes: 'true',
      // What comes back with the code is of this attempt.
      nonce: 'c',
    },
  }
  for (const scope of ['drive.file', 'spreadsheets'] as const) {
    const { oauth } = await start(t, scope)
    const url = new URL(oauth.consentUrl({ state: 's', codeChallenge: 'c', redirectUri }))
    assert.deepEqual(Object.fromEntries(url.searchParams), asked[scope])
  }
  assert.equal(googleEndpoints(null).consentPage, 'https://accounts.google.com/o/oauth2/v2/auth')
})

test('what the owner picks on the way can be read with the token, what was picked before goes on, the rest is closed', async (t) => {
  const { local, consent, exchange } = await start(t)
  const ids: Record<string, string> = {}
  for (const title of ['First', 'Second', 'Third']) {
    const made = { title, owner: 'grace@example.com', pickedBy: false }
    ids[title] = (await local.control<{ spreadsheetId: string }>('POST', 'spreadsheets', made)).spreadsheetId
  }
  const pick = async (...titles: string[]) => {
    const autoConsent = { user: 'grace@example.com', pick: titles }
    await local.control('POST', 'settings', { autoConsent })
    const back = await consent()
    const grant = await exchange({ code: back.get('code') ?? '' })
    assert.ok(!('problem' in grant), JSON.stringify(grant))
    const statuses: Record<string, number> = {}
    for (const [title, id] of Object.entries(ids)) {
      statuses[title] = (await local.api(grant.accessToken, 'GET', `/v4/spreadsheets/${id}`)).status
    }
    return { picked: pickedIdsIn(back.get('picked_file_ids')), statuses, grant }
  }
  const first = await pick('First')
  assert.deepEqual(first.picked, [ids.First])
  assert.deepEqual(first.statuses, { First: 200, Second: 404, Third: 404 })
  const second = await pick('Second')
  assert.deepEqual(second.picked, [ids.Second])
  assert.deepEqual(second.statuses, { First: 200, Second: 200, Third: 404 })
  const none = await pick()
  assert.deepEqual(none.picked, [])
  assert.deepEqual(none.statuses, second.statuses)
  assert.equal(none.grant.subject, first.grant.subject)
  assert.deepEqual(none.grant.scopes, [driveFile])
})

test('picked ids are taken as they may come: none, odd ones, the same twice, too many', () => {
  const id = (n: number) => `1AbC_-dEf${n}`.padEnd(44, 'x')
  assert.deepEqual(pickedIdsIn(null), [])
  assert.deepEqual(pickedIdsIn(''), [])
  assert.deepEqual(pickedIdsIn(`${id(1)}, ${id(2)},,${id(1)}`), [id(1), id(2)])
  assert.deepEqual(pickedIdsIn(`<script>,../../etc,${id(1)}&x=1,short,${id(3)}`), [id(3)])
  assert.equal(pickedIdsIn(Array.from({ length: 500 }, (_, n) => id(n)).join(',')).length, 100)
})

test('what goes wrong is said to the owner: box unticked, code used, wrong verifier, denied', async (t) => {
  const { local, exchange, consent } = await start(t, 'spreadsheets')
  await local.control('POST', 'settings', {
    autoConsent: { user: 'grace@example.com', scopes: ['openid', 'email'] },
  })
  const unticked = await exchange()
  assert.ok('problem' in unticked && unticked.problem === 'scope_missing')
  assert.match(unticked.words, /box/)

  await local.control('POST', 'settings', { autoConsent: { user: 'ada@example.com' } })
  const code = (await consent()).get('code') ?? ''
  const wrong = await exchange({ code, verifier: 'x'.repeat(43) })
  assert.ok('problem' in wrong && wrong.problem === 'code_unusable')
  assert.ok(!('problem' in (await exchange({ code }))))
  const used = await exchange({ code })
  assert.ok('problem' in used && used.problem === 'code_unusable')
  const elsewhere = await exchange({ redirectUri: 'http://other.example/' })
  assert.ok('problem' in elsewhere && elsewhere.problem === 'misconfigured')

  await local.control('POST', 'settings', { autoConsent: { deny: true } })
  assert.equal(problemOfConsent((await consent()).get('error') ?? '').problem, 'denied')
})

test('no refresh token, a wrong client secret and a Google that is away are told apart', async (t) => {
  const { local, exchange, oauth, consent } = await start(t)
  const code = (await consent()).get('code') ?? ''
  const answer = {
    access_token: 'a',
    expires_in: 3_599,
    scope: driveFile,
    token_type: 'Bearer',
  }
  await local.control('POST', 'faults', { match: '^/token', kind: 'answer', status: 200, body: answer })
  const online = await exchange({ code })
  assert.ok('problem' in online && online.problem === 'no_refresh_token')

  await local.control('POST', 'faults', { match: '^/token', kind: '503', times: 2 })
  const away = await exchange({ code })
  assert.ok('problem' in away && away.problem === 'unreachable')
  await assert.rejects(
    oauth.refresh('any'),
    (error) => error instanceof ProviderFailure && error.facts.isPassing === true,
  )

  await local.control('POST', 'clients', {
    clientId: 'shop',
    clientSecret: 'another',
    redirectUris: [redirectUri],
  })
  const secret = await exchange({ code })
  assert.ok('problem' in secret && secret.problem === 'misconfigured')
  await assert.rejects(
    oauth.refresh('any'),
    (error) => error instanceof ProviderFailure && !error.facts.isPassing,
  )
})

test('without an id token Google is asked whose account it is', async (t) => {
  const { local, exchange } = await start(t, 'spreadsheets')
  const scope = `openid email ${spreadsheetsScope}`
  const { access_token } = await local.tokens('ada@example.com', scope.split(' '))
  const body = { access_token, expires_in: 3_599, scope, refresh_token: 'r' }
  await local.control('POST', 'faults', { match: '^/token', kind: 'answer', status: 200, body })
  const grant = await exchange()
  assert.ok(!('problem' in grant))
  assert.equal(grant.email, 'ada@example.com')
})

test('only an id token of this attempt, for us and for now, says whose account is connected', async (t) => {
  const { local, exchange, consent, verifier } = await start(t, 'spreadsheets')
  const { access_token } = await local.tokens('ada@example.com', ['openid', 'email', spreadsheetsScope])
  const outcomes: Record<string, string> = {}
  const tokens = spoiledIdTokens({
    ...{ clientId: 'shop', email: 'grace@example.com' },
    nonce: createHash('sha256').update(verifier).digest('base64url'),
    nowSeconds: local.clock.nowMs() / 1_000,
  })
  for (const [what, id_token] of Object.entries(tokens)) {
    const code = (await consent()).get('code') ?? ''
    const scope = `openid email ${spreadsheetsScope}`
    // The access token is good: were the id token passed over, Google would say whose it is.
    const body = { access_token, expires_in: 3_599, scope, refresh_token: 'r', id_token }
    await local.control('POST', 'faults', { match: '^/token', kind: 'answer', status: 200, body })
    const grant = await exchange({ code })
    outcomes[what] = 'problem' in grant ? grant.problem : grant.email
  }
  const { 'as it is': right, ...wrong } = outcomes
  assert.equal(right, 'grace@example.com')
  assert.equal(Object.keys(wrong).length, 7)
  assert.deepEqual(new Set(Object.values(wrong)), new Set(['unreachable']))
})

test('with drive.file it is Drive that says whose account it is, and when it does not, why', async (t) => {
  const { local, exchange } = await start(t)
  const grant = await exchange()
  assert.ok(!('problem' in grant))
  const calls = await local.control<{ calls: { name: string; path: string }[] }>('GET', 'calls')
  const asked = calls.calls.map(({ name, path }) => name || path)
  assert.deepEqual(asked, ['/o/oauth2/v2/auth', '/token', 'about.get'])

  const answer = (status: number, body: unknown) =>
    local.control('POST', 'faults', { match: 'about.get', kind: 'answer', status, body })
  const refusal = (code: number, reason: string, message: string) => ({
    error: { code, message, errors: [{ message, domain: 'usageLimits', reason }] },
  })
  await answer(200, { user: { permissionId: '12345678901234567890', displayName: 'Grace Hopper' } })
  const nameless = await exchange()
  assert.ok(!('problem' in nameless))
  assert.deepEqual([nameless.subject, nameless.email], ['12345678901234567890', 'Grace Hopper'])

  const cases: [number, unknown, string, RegExp][] = [
    [200, { user: { emailAddress: 'grace@example.com' } }, 'unreachable', /did not say whose account/],
    [503, '<html>', 'unreachable', /try again in a moment/],
    [
      403,
      refusal(403, 'accessNotConfigured', 'Google Drive API has not been used'),
      'misconfigured',
      /switched off.*The operator must enable.*Nothing was saved/,
    ],
    [
      403,
      refusal(403, 'domainPolicy', 'The domain administrators have disabled Drive apps.'),
      'misconfigured',
      /Google says: The domain administrators have disabled Drive apps\. Nothing was saved/,
    ],
  ]
  for (const [status, body, problem, words] of cases) {
    await answer(status, body)
    const refused = await exchange()
    assert.ok('problem' in refused, String(status))
    assert.equal(refused.problem, problem)
    assert.match(refused.words, words)
    assert.doesNotMatch(refused.words, /spreadsheet/)
  }
})
