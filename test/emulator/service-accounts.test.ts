import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { type LocalGoogle, spreadsheetsScope, startLocalGoogle } from './harness.ts'

interface KeyFile {
  client_email: string
  private_key: string
  private_key_id: string
  token_uri: string
}

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

test('a signed assertion is exchanged for an access token that reaches what is shared with the account', async (t) => {
  const google = await startLocalGoogle(t)
  const key = await google.control<KeyFile>('POST', 'service-accounts', {})
  assert.match(key.client_email, /^rowport-robot@emulated-project\.iam\.gserviceaccount\.com$/)
  assert.equal(key.token_uri, `${google.url}/token`)
  const { status, body } = await exchange(google, key)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.token_type, 'Bearer')
  assert.equal(body.refresh_token, undefined)
  const token = String(body.access_token)
  const { spreadsheetId } = await google.control('POST', 'spreadsheets', {
    title: 'Prices',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values: [['name'], ['Lamp']] }],
  })
  const path = `/v4/spreadsheets/${spreadsheetId}/values/Items`
  assert.equal((await google.api(token, 'GET', path)).status, 403, 'before it is shared')
  await google.control('POST', 'share', { spreadsheetId, with: key.client_email, role: 'reader' })
  assert.equal((await google.api(token, 'GET', path)).status, 200)
  const write = `${path}!A3?valueInputOption=RAW`
  assert.equal((await google.api(token, 'PUT', write, { values: [['x']] })).status, 403, 'a reader')
  await google.control('POST', 'share', { spreadsheetId, with: key.client_email })
  assert.equal((await google.api(token, 'PUT', write, { values: [['x']] })).status, 200)
})

test('what Google would not take is refused in its words', async (t) => {
  const google = await startLocalGoogle(t)
  const key = await google.control<KeyFile>('POST', 'service-accounts', {})
  const now = Math.floor(google.clock.nowMs() / 1_000)
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const forged = { ...key, private_key: String(other.export({ type: 'pkcs8', format: 'pem' })) }
  for (const [why, from, claims, error, description] of [
    ['another key', forged, {}, 'invalid_grant', /^Invalid JWT Signature\.$/],
    ['nobody', key, { iss: 'nobody@example.com' }, 'invalid_grant', /account not found/],
    ['for another', key, { aud: 'https://example.com/token' }, 'invalid_grant', /Failed audience check/],
    ['too long', key, { exp: now + 3_700 }, 'invalid_grant', /short-lived/],
    ['of yesterday', key, { iat: now - 90_000, exp: now - 86_400 }, 'invalid_grant', /short-lived/],
    ['of tomorrow', key, { iat: now + 86_400, exp: now + 90_000 }, 'invalid_grant', /short-lived/],
    ['without times', key, { iat: undefined, exp: undefined }, 'invalid_grant', /short-lived/],
    ['without a scope', key, { scope: undefined }, 'invalid_scope', /Invalid OAuth scope/],
    ['with no such scope', key, { scope: 'everything' }, 'invalid_scope', /Invalid OAuth scope/],
    ['for somebody else', key, { sub: 'ada@example.com' }, 'unauthorized_client', /unauthorized/],
  ] as const) {
    const { status, body } = await exchange(google, from, claims)
    assert.deepEqual([status, body.error], [error === 'unauthorized_client' ? 401 : 400, error], why)
    assert.match(String(body.error_description), description, why)
  }
  const google2 = await exchange(google, key, { aud: 'https://oauth2.googleapis.com/token' })
  assert.equal(google2.status, 200, 'as Google’s own clients name it')
  for (const assertion of ['', 'a.b', 'a.b.c.d', 'e30.e30.e30']) {
    const { status } = await google.exchange({ grant_type: grantType, assertion })
    assert.equal(status, 400, assertion)
  }
})

test('a key that was deleted and an account that is gone are not known any more', async (t) => {
  const google = await startLocalGoogle(t)
  const key = await google.control<KeyFile>('POST', 'service-accounts', {})
  const again = await google.control<KeyFile>('POST', 'service-accounts', {})
  assert.equal(again.client_email, key.client_email)
  assert.equal((await exchange(google, again)).status, 200)
  const address = encodeURIComponent(key.client_email)
  assert.deepEqual(await google.control('DELETE', `service-accounts/${address}/keys`), { deleted: 2 })
  assert.equal((await exchange(google, key)).body.error_description, 'Invalid JWT Signature.')
  await google.control('DELETE', `service-accounts/${address}`)
  assert.equal((await exchange(google, key)).body.error_description, 'Invalid grant: account not found')
})

test('once a key is made, another opens nothing', async (t) => {
  const google = await startLocalGoogle(t)
  await google.control('POST', 'api-keys', { key: 'AIza-ours' })
  const { spreadsheetId } = await google.control('POST', 'spreadsheets', {
    title: 'X',
    owner: 'ada@example.com',
  })
  await google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' })
  const ask = (key: string) => fetch(`${google.url}/v4/spreadsheets/${spreadsheetId}?key=${key}`)
  assert.equal((await ask('AIza-ours')).status, 200)
  const refused = await ask('AIza-other')
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /API_KEY_INVALID/)
})

function exchange(google: LocalGoogle, key: KeyFile, claims: Record<string, unknown> = {}) {
  const now = Math.floor(google.clock.nowMs() / 1_000)
  const parts = [
    { alg: 'RS256', typ: 'JWT', kid: key.private_key_id },
    {
      iss: key.client_email,
      scope: spreadsheetsScope,
      aud: `${google.url}/token`,
      iat: now,
      exp: now + 3_600,
      ...claims,
    },
  ]
  const unsigned = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = createSign('sha256').update(unsigned).sign(key.private_key, 'base64url')
  return google.exchange({ grant_type: grantType, assertion: `${unsigned}.${signature}` })
}
