import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  driveFile,
  formOf,
  type LocalGoogle,
  redirectUri,
  spreadsheetsScope,
  startLocalGoogle,
} from './harness.ts'

const verifier = 'v'.repeat(43)
const client = { client_id: 'shop', client_secret: 'any' }

function authorizationUrl(google: LocalGoogle, more: Record<string, string> = {}): string {
  const parameters = new URLSearchParams({
    client_id: 'shop',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: `${driveFile} ${spreadsheetsScope}`,
    state: 'st&te',
    access_type: 'offline',
    prompt: 'consent',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })
  return `${google.url}/o/oauth2/v2/auth?${parameters}`
}

async function consent(google: LocalGoogle, more: Record<string, string> = {}): Promise<URLSearchParams> {
  const response = await fetch(authorizationUrl(google, more), { redirect: 'manual' })
  assert.equal(response.status, 302)
  return new URL(response.headers.get('location') ?? '').searchParams
}

async function connect(
  google: LocalGoogle,
  more: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const back = await consent(google, more)
  const { status, body } = await google.exchange({
    ...client,
    grant_type: 'authorization_code',
    code: back.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('a person chooses an account, unticks a scope and continues: the app gets what was left', async (t) => {
  const google = await startLocalGoogle(t)
  const page = await fetch(authorizationUrl(google, { login_hint: 'lin@example.com' }))
  const html = await page.text()
  assert.equal(page.status, 200)
  assert.match(html, /grace@example\.com/)
  assert.doesNotMatch(html, /<script/)

  const form = formOf(html)
  assert.equal(form.get('account'), 'lin@example.com')
  assert.deepEqual(form.getAll('granted_scope'), [driveFile, spreadsheetsScope])
  form.delete('granted_scope', spreadsheetsScope)
  form.set('account', 'grace@example.com')
  form.set('decision', 'allow')
  const response = await fetch(`${google.url}/o/oauth2/v2/auth`, {
    method: 'POST',
    body: form,
    redirect: 'manual',
  })
  const location = new URL(response.headers.get('location') ?? '')

  assert.equal(location.origin + location.pathname, redirectUri)
  assert.equal(location.searchParams.get('state'), 'st&te')
  assert.equal(location.searchParams.get('scope'), driveFile)
  const { body } = await google.exchange({
    ...client,
    grant_type: 'authorization_code',
    code: location.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  assert.equal(body.scope, driveFile)
  assert.equal(body.expires_in, 3599)
  assert.equal(body.token_type, 'Bearer')
  assert.equal(typeof body.refresh_token, 'string')
})

test('a person who cancels, or leaves nothing ticked, sends the app error=access_denied and its state', async (t) => {
  const google = await startLocalGoogle(t)
  for (const spoil of [
    (form: URLSearchParams) => form.set('decision', 'deny'),
    (form: URLSearchParams) => form.delete('granted_scope'),
  ]) {
    const form = formOf(await (await fetch(authorizationUrl(google))).text())
    form.set('decision', 'allow')
    spoil(form)
    const response = await fetch(`${google.url}/o/oauth2/v2/auth`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
    })
    const back = new URL(response.headers.get('location') ?? '').searchParams
    assert.deepEqual(Object.fromEntries(back), { state: 'st&te', error: 'access_denied' })
  }
})

test('what the app sends is shown as text on the page', async (t) => {
  const google = await startLocalGoogle(t)
  const html = await (await fetch(authorizationUrl(google, { client_id: '"><script>x()</script>' }))).text()
  assert.doesNotMatch(html, /<script/)
})

test('in automatic mode the page decides by itself', async (t) => {
  const google = await startLocalGoogle(t)
  await google.control('POST', 'settings', { autoConsent: true })
  assert.equal((await consent(google, { login_hint: 'lin@example.com' })).get('state'), 'st&te')
  await google.control('POST', 'settings', { autoConsent: { user: 'lin@example.com', scopes: [driveFile] } })
  assert.equal((await consent(google)).get('scope'), driveFile)
  await google.control('POST', 'settings', { autoConsent: { deny: true } })
  assert.equal((await consent(google)).get('error'), 'access_denied')
})

test('a request that cannot be trusted is explained to the person and not sent back to the app', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  await google.control('POST', 'clients', {
    clientId: 'shop',
    clientSecret: 'right',
    redirectUris: [redirectUri],
  })
  const cases: [Record<string, string>, number, string][] = [
    [{ client_id: 'other' }, 401, 'invalid_client'],
    [{ redirect_uri: 'http://evil.example/' }, 400, 'redirect_uri_mismatch'],
    [{ response_type: 'token' }, 400, 'unsupported_response_type'],
    [{ scope: 'everything' }, 400, 'invalid_scope'],
    [{ scope: '' }, 400, 'invalid_request'],
    [{ code_challenge_method: 'S1' }, 400, 'invalid_request'],
  ]
  for (const [more, status, error] of cases) {
    const response = await fetch(authorizationUrl(google, more), { redirect: 'manual' })
    assert.equal(response.status, status)
    assert.match(await response.text(), new RegExp(`Error ${status}: ${error}`))
  }
})

test('the token endpoint refuses in the words of Google', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  await google.control('POST', 'clients', {
    clientId: 'shop',
    clientSecret: 'any',
    redirectUris: [redirectUri],
  })
  const code = (await consent(google)).get('code') ?? ''
  const good = {
    ...client,
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }
  const { code_verifier: _, ...withoutVerifier } = good
  const cases: [Record<string, string>, number, string, string][] = [
    [{}, 400, 'invalid_request', 'Could not determine client ID from request.'],
    [{ ...good, client_id: 'other' }, 401, 'invalid_client', 'The OAuth client was not found.'],
    [{ ...good, client_secret: '' }, 400, 'invalid_request', 'client_secret is missing.'],
    [{ ...good, client_secret: 'wrong' }, 401, 'invalid_client', 'Unauthorized'],
    [{ ...good, grant_type: 'password' }, 400, 'unsupported_grant_type', 'Invalid grant_type: password'],
    [{ ...good, code: '' }, 400, 'invalid_request', 'Missing required parameter: code'],
    [{ ...good, redirect_uri: '' }, 400, 'invalid_request', 'Missing parameter: redirect_uri'],
    [{ ...good, code: 'nonsense' }, 400, 'invalid_grant', 'Malformed auth code.'],
    [{ ...good, redirect_uri: 'http://app.example/other' }, 400, 'redirect_uri_mismatch', 'Bad Request'],
    [withoutVerifier, 400, 'invalid_grant', 'Missing code verifier.'],
    [{ ...good, code_verifier: 'w'.repeat(43) }, 400, 'invalid_grant', 'Invalid code verifier.'],
    [
      { ...client, grant_type: 'refresh_token', refresh_token: 'nonsense' },
      400,
      'invalid_grant',
      'Bad Request',
    ],
  ]
  for (const [parameters, status, error, description] of cases) {
    assert.deepEqual(await google.exchange(parameters), {
      status,
      body: { error, error_description: description },
    })
  }
  assert.equal((await google.exchange(good)).status, 200)
  assert.deepEqual(await google.exchange(good), {
    status: 400,
    body: { error: 'invalid_grant', error_description: 'Bad Request' },
  })
})

test('a code is good for ten minutes', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  const code = (await consent(google)).get('code') ?? ''
  google.clock.advanceMs(600_000)
  const late = {
    ...client,
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }
  assert.equal((await google.exchange(late)).body.error, 'invalid_grant')
})

test('a refresh token comes with the first consent, and again only with prompt=consent and offline access', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  assert.equal('refresh_token' in (await connect(google, { access_type: 'online' })), false)
  await google.control('POST', 'grants/ada@example.com/revoke')
  assert.equal('refresh_token' in (await connect(google, { prompt: '' })), true)
  assert.equal('refresh_token' in (await connect(google, { prompt: '' })), false)
  assert.equal('refresh_token' in (await connect(google)), true)
})

test('scopes granted before are included when asked for', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  await connect(google, { scope: driveFile })
  assert.equal((await connect(google, { scope: spreadsheetsScope })).scope, spreadsheetsScope)
  const both = await connect(google, { scope: spreadsheetsScope, include_granted_scopes: 'true' })
  assert.equal(both.scope, `${driveFile} ${spreadsheetsScope}`)
})

test('an access token lives an hour; the refresh token brings the next, and no new refresh token', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  const { access_token, refresh_token } = await connect(google)
  const status = async (token: unknown) => (await google.api(String(token), 'GET', '/drive/v3/files')).status
  google.clock.advanceMs(3_599_000)
  assert.equal(await status(access_token), 200)
  google.clock.advanceMs(1_000)
  const expired = await google.api(String(access_token), 'GET', '/v4/spreadsheets/S')
  assert.equal(expired.status, 401)
  assert.equal(
    expired.headers.get('www-authenticate'),
    'Bearer realm="https://accounts.google.com/", error="invalid_token"',
  )
  const { error } = (await expired.json()) as { error: { status: string; details: { reason: string }[] } }
  assert.equal(error.status, 'UNAUTHENTICATED')
  assert.equal(error.details[0]?.reason, 'ACCESS_TOKEN_EXPIRED')

  const { body } = await google.exchange({
    ...client,
    grant_type: 'refresh_token',
    refresh_token: String(refresh_token),
  })
  assert.equal('refresh_token' in body, false)
  assert.equal(await status(body.access_token), 200)
  assert.deepEqual(
    (
      await google.exchange({
        client_id: 'other',
        client_secret: 'x',
        grant_type: 'refresh_token',
        refresh_token: String(refresh_token),
      })
    ).body,
    { error: 'unauthorized_client', error_description: 'Unauthorized' },
  )
})

test('revoked at Google, by the app or by control: the refresh says so and the access token is dead', async (t) => {
  const google = await startLocalGoogle(t, { settings: { autoConsent: {} } })
  const ways = [
    (token: string) => fetch(`${google.url}/revoke?token=${encodeURIComponent(token)}`, { method: 'POST' }),
    () => google.control('POST', 'grants/ada@example.com/revoke'),
  ]
  for (const revoke of ways) {
    const { access_token, refresh_token } = await connect(google)
    await revoke(String(access_token))
    assert.deepEqual(
      await google.exchange({ ...client, grant_type: 'refresh_token', refresh_token: String(refresh_token) }),
      {
        status: 400,
        body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
      },
    )
    assert.equal((await google.api(String(access_token), 'GET', '/drive/v3/files')).status, 401)
  }
  const again = await fetch(`${google.url}/revoke?token=nonsense`, { method: 'POST' })
  assert.equal(again.status, 400)
  assert.deepEqual(await again.json(), {
    error: 'invalid_token',
    error_description: 'Token expired or revoked',
  })
})

test('expired by control: the access token ends, the refresh token goes on', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token, refresh_token } = await google.tokens('ada@example.com')
  await google.control('POST', 'grants/ada@example.com/expire')
  assert.equal((await google.api(access_token, 'GET', '/drive/v3/files')).status, 401)
  assert.equal((await google.exchange({ ...client, grant_type: 'refresh_token', refresh_token })).status, 200)
})

test('without a token, with a wrong one, and with too few scopes', async (t) => {
  const google = await startLocalGoogle(t)
  const bare = await fetch(`${google.url}/v4/spreadsheets/S`)
  assert.equal(bare.status, 403)
  assert.match(await bare.text(), /Method doesn't allow unregistered callers/)
  assert.equal((await google.api('nonsense', 'GET', '/v4/spreadsheets/S')).status, 401)

  const { access_token } = await google.tokens('ada@example.com', [`${spreadsheetsScope}.readonly`])
  assert.equal((await google.api(access_token, 'GET', '/v4/spreadsheets/S/values/A1')).status, 404)
  const write = await google.api(access_token, 'PUT', '/v4/spreadsheets/S/values/A1?valueInputOption=RAW', {})
  assert.equal(write.status, 403)
  assert.match(write.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="https:/)
  assert.deepEqual(await write.json(), {
    error: {
      code: 403,
      message: 'Request had insufficient authentication scopes.',
      status: 'PERMISSION_DENIED',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
          domain: 'googleapis.com',
          metadata: {
            service: 'sheets.googleapis.com',
            method: 'google.apps.sheets.v4.SpreadsheetsService.UpdateValues',
          },
        },
      ],
    },
  })
  assert.equal((await google.api(access_token, 'GET', '/drive/v3/files')).status, 403)
})

test('a withdrawn scope takes its calls away, from tokens refreshed later as well', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token, refresh_token } = await google.tokens('ada@example.com', [driveFile, 'openid'])
  await google.control('POST', 'grants/ada@example.com/scopes', { scopes: ['openid'] })
  assert.equal((await google.api(access_token, 'GET', '/drive/v3/files')).status, 403)
  const { body } = await google.exchange({ ...client, grant_type: 'refresh_token', refresh_token })
  assert.equal(body.scope, 'openid')
})

test('tokeninfo and userinfo say who it is, as far as the scopes allow', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token } = await google.tokens('grace.hopper@example.com', ['openid', 'email', 'profile'])
  const info = (await (await fetch(`${google.url}/tokeninfo?access_token=${access_token}`)).json()) as Record<
    string,
    string
  >
  assert.equal(info.email, 'grace.hopper@example.com')
  assert.equal(info.expires_in, '3599')
  assert.match(info.sub ?? '', /^\d{21}$/)
  const person = await google.api(access_token, 'GET', '/oauth2/v3/userinfo')
  assert.deepEqual(await person.json(), {
    sub: info.sub,
    name: 'Grace Hopper',
    given_name: 'Grace',
    email: 'grace.hopper@example.com',
    email_verified: true,
  })
  const bad = await fetch(`${google.url}/tokeninfo?access_token=nonsense`)
  assert.equal(bad.status, 400)
  assert.deepEqual(await bad.json(), { error: 'invalid_token', error_description: 'Invalid Value' })
  assert.equal((await fetch(`${google.url}/userinfo`)).status, 401)

  const silent = await google.tokens('ada@example.com', [driveFile])
  const { email } = (await (await google.api(silent.access_token, 'GET', '/tokeninfo')).json()) as {
    email?: string
  }
  assert.equal(email, undefined)
})

test('a path of no service gets the front end page of Google', async (t) => {
  const google = await startLocalGoogle(t)
  const response = await fetch(`${google.url}/nowhere`)
  assert.equal(response.status, 404)
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(await response.text(), /404\..*That’s an error/)
})
