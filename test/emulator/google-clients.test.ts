import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CodeChallengeMethod } from 'google-auth-library'
import { createSpreadsheet, startClients } from './google-clients.ts'
import { driveFile } from './harness.ts'

test('google-auth-library: consent with PKCE, tokens, their owner, refresh and revoke', async (t) => {
  const { auth, url, control } = await startClients(t)
  const { codeVerifier, codeChallenge } = await auth.generateCodeVerifierAsync()
  const address = auth.generateAuthUrl({
    access_type: 'offline',
    prompt: 'consent',
    scope: [driveFile, 'openid', 'email'],
    state: 'mine',
    login_hint: 'grace@example.com',
    code_challenge_method: CodeChallengeMethod.S256,
    ...(codeChallenge === undefined ? {} : { code_challenge: codeChallenge }),
  })
  assert.ok(address.startsWith(`${url}/o/oauth2/v2/auth?`))
  const consent = await fetch(address, { redirect: 'manual' })
  const back = new URL(consent.headers.get('location') ?? '').searchParams
  assert.equal(back.get('state'), 'mine')
  const code = back.get('code') ?? ''

  await assert.rejects(auth.getToken({ code, codeVerifier: 'x'.repeat(43) }), /invalid_grant/)
  const { tokens } = await auth.getToken({ code, codeVerifier })
  assert.equal(tokens.scope, `${driveFile} openid email`)
  auth.setCredentials(tokens)
  const info = await auth.getTokenInfo(tokens.access_token ?? '')
  assert.equal(info.email, 'grace@example.com')
  assert.deepEqual(info.scopes, [driveFile, 'openid', 'email'])
  const ticket = await auth.verifyIdToken({ idToken: tokens.id_token ?? '', audience: 'shop' })
  assert.equal(ticket.getPayload()?.sub, info.sub)

  await control('POST', 'grants/grace@example.com/expire')
  auth.setCredentials({ ...tokens, expiry_date: 1 })
  const { token } = await auth.getAccessToken()
  assert.notEqual(token, tokens.access_token)
  await auth.revokeCredentials()
  auth.setCredentials({ refresh_token: tokens.refresh_token ?? '' })
  await assert.rejects(auth.getAccessToken(), (error: { status?: number; response?: { data?: unknown } }) => {
    assert.equal(error.status, 400)
    assert.deepEqual(error.response?.data, {
      error: 'invalid_grant',
      error_description: 'Token has been expired or revoked.',
    })
    return true
  })
})

test('@googleapis/sheets: an access token that ended is refreshed, and the call repeated', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google)
  await google.sheetsApi.spreadsheets.get({ spreadsheetId })
  await google.control('POST', 'grants/ada@example.com/expire')
  const { status } = await google.sheetsApi.spreadsheets.get({ spreadsheetId })
  assert.equal(status, 200)
})

test('@googleapis/sheets: values get, update, append, batchGet and clear', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [
    ['name', 'price'],
    ['tea', 3],
  ])
  const { values } = google.sheetsApi.spreadsheets
  const { data: got } = await values.get({ spreadsheetId, range: 'Items' })
  assert.deepEqual(got.values, [
    ['name', 'price'],
    ['tea', '3'],
  ])
  const { data: updated } = await values.update({
    spreadsheetId,
    range: "'Items'!B2",
    valueInputOption: 'RAW',
    requestBody: { values: [[4.5]] },
  })
  assert.deepEqual(updated, {
    spreadsheetId,
    updatedRange: 'Items!B2',
    updatedRows: 1,
    updatedColumns: 1,
    updatedCells: 1,
  })
  const { data: appended } = await values.append({
    spreadsheetId,
    range: "'Items'!A1",
    valueInputOption: 'RAW',
    insertDataOption: 'INSERT_ROWS',
    requestBody: { values: [['coffee', true]] },
  })
  assert.equal(appended.tableRange, 'Items!A1:B2')
  assert.equal(appended.updates?.updatedRange, 'Items!A3:B3')
  const { data: both } = await values.batchGet({
    spreadsheetId,
    ranges: ['Items!A3:B', 'Items!B2'],
    valueRenderOption: 'UNFORMATTED_VALUE',
  })
  assert.deepEqual(
    both.valueRanges?.map((range) => range.values),
    [[['coffee', true]], [[4.5]]],
  )
  const { data: cleared } = await values.clear({ spreadsheetId, range: 'Items!A3:B3' })
  assert.equal(cleared.clearedRange, 'Items!A3:B3')
  const { data: after } = await values.get({ spreadsheetId, range: 'Items!A3:B3' })
  assert.equal('values' in after, false)
})

test('@googleapis/sheets: batchUpdate, fields masks and developer metadata', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [['name'], ['tea'], ['coffee']])
  const { spreadsheets } = google.sheetsApi
  const fields = 'sheets.properties(sheetId,title)'
  const { data: before } = await spreadsheets.get({ spreadsheetId, fields })
  const sheetId = before.sheets?.[0]?.properties?.sheetId
  assert.deepEqual(before, { sheets: [{ properties: { sheetId, title: 'Items' } }] })
  const row = (startIndex: number) => ({
    ...(sheetId === undefined ? {} : { sheetId }),
    dimension: 'ROWS',
    startIndex,
    endIndex: startIndex + 1,
  })

  const { data: batch } = await spreadsheets.batchUpdate({
    spreadsheetId,
    requestBody: {
      requests: [
        {
          createDeveloperMetadata: {
            developerMetadata: {
              metadataKey: 'row',
              metadataValue: 'coffee',
              visibility: 'DOCUMENT',
              location: { dimensionRange: row(2) },
            },
          },
        },
        { deleteDimension: { range: row(1) } },
        { addSheet: { properties: { title: 'More' } } },
      ],
    },
  })
  assert.equal(batch.replies?.length, 3)
  assert.deepEqual(batch.replies?.[1], {})
  const metadataId = batch.replies?.[0]?.createDeveloperMetadata?.developerMetadata?.metadataId ?? 0
  const { data: metadata } = await spreadsheets.developerMetadata.get({ spreadsheetId, metadataId })
  assert.equal(metadata.metadataValue, 'coffee')
  assert.equal(metadata.location?.dimensionRange?.startIndex, 1)
  const { data: found } = await spreadsheets.developerMetadata.search({
    spreadsheetId,
    requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'row' } }] },
  })
  assert.equal(found.matchedDeveloperMetadata?.length, 1)
  const { data: after } = await spreadsheets.values.get({ spreadsheetId, range: 'Items!A:A' })
  assert.deepEqual(after.values, [['name'], ['coffee']])
})

test('@googleapis/sheets: an error carries code, message and the legacy errors of this client', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google)
  const failing = google.sheetsApi.spreadsheets.values.get({ spreadsheetId, range: 'NOPE!A5:F15' })
  await assert.rejects(failing, (error: { status?: number; response?: { data?: unknown } }) => {
    const message = 'Unable to parse range: NOPE!A5:F15'
    assert.equal(error.status, 400)
    assert.deepEqual(error.response?.data, {
      error: {
        code: 400,
        message,
        errors: [{ message, domain: 'global', reason: 'badRequest' }],
        status: 'INVALID_ARGUMENT',
      },
    })
    return true
  })
})

test('@googleapis/drive: files create, get, list and delete', async (t) => {
  const { driveApi, sheetsApi } = await startClients(t)
  const mimeType = 'application/vnd.google-apps.spreadsheet'
  const { data: created } = await driveApi.files.create({ requestBody: { name: 'From Drive', mimeType } })
  const fileId = created.id ?? ''
  assert.equal(created.kind, 'drive#file')
  const { data: got } = await driveApi.files.get({ fileId, fields: 'id,name,mimeType' })
  assert.deepEqual(got, { id: fileId, name: 'From Drive', mimeType })
  const { data: sheet } = await sheetsApi.spreadsheets.get({
    spreadsheetId: fileId,
    fields: 'properties.title',
  })
  assert.deepEqual(sheet, { properties: { title: 'From Drive' } })
  const { data: list } = await driveApi.files.list({ q: `mimeType='${mimeType}'`, fields: 'files(id,name)' })
  assert.deepEqual(list.files, [{ id: fileId, name: 'From Drive' }])
  const { status } = await driveApi.files.delete({ fileId })
  assert.equal(status, 204)
  await assert.rejects(driveApi.files.get({ fileId }), { status: 404 })
})

test('@googleapis/sheets: the rations reach the client as 429', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google)
  await google.control('POST', 'settings', { quotas: { perUser: 1 } })
  await google.sheetsApi.spreadsheets.get({ spreadsheetId })
  await assert.rejects(google.sheetsApi.spreadsheets.get({ spreadsheetId }), { status: 429 })
})
