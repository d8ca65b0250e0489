import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientsOf, createSpreadsheet, startClients } from './google-clients.ts'
import { driveFile, formOf, redirectUri, spreadsheetsScope, startLocalGoogle } from './harness.ts'

const notFound = (message: string) => (error: { status?: number; message?: string }) => {
  assert.equal(error.status, 404)
  assert.equal(error.message, message)
  return true
}

test('drive.file reaches what the app created and what was picked, and nothing else exists', async (t) => {
  const google = await startClients(t)
  const picked = await createSpreadsheet(google, [['name']], { title: 'Picked' })
  const other = await createSpreadsheet(google, [['name']], { title: 'Other', pickedBy: false })
  const { sheetsApi, driveApi } = await clientsOf(google, 'ada@example.com', [driveFile])
  const listed = async () => (await driveApi.files.list()).data.files?.map(({ name }) => name)

  assert.deepEqual(await listed(), ['Picked'])
  assert.equal((await sheetsApi.spreadsheets.get({ spreadsheetId: picked })).status, 200)
  const missing = notFound('Requested entity was not found.')
  await assert.rejects(sheetsApi.spreadsheets.get({ spreadsheetId: other }), missing)
  await assert.rejects(sheetsApi.spreadsheets.values.get({ spreadsheetId: other, range: 'Items' }), missing)
  const requests = [
    { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 1 } } },
  ]
  await assert.rejects(
    sheetsApi.spreadsheets.batchUpdate({ spreadsheetId: other, requestBody: { requests } }),
    missing,
  )
  await assert.rejects(driveApi.files.get({ fileId: other }), notFound(`File not found: ${other}.`))
  await assert.rejects(driveApi.files.delete({ fileId: other }), { status: 404 })

  const { data: made } = await sheetsApi.spreadsheets.create({
    requestBody: { properties: { title: 'Made' } },
  })
  assert.deepEqual((await listed())?.sort(), ['Made', 'Picked'])
  assert.equal((await driveApi.files.get({ fileId: made.spreadsheetId ?? '' })).status, 200)

  await google.control('POST', 'pick', { user: 'ada@example.com', spreadsheetId: other })
  assert.equal((await sheetsApi.spreadsheets.get({ spreadsheetId: other })).status, 200)
  assert.deepEqual((await listed())?.sort(), ['Made', 'Other', 'Picked'])
})

test('a file that is shared must be picked by each person for themselves', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [['name']])
  await google.driveApi.permissions.create({
    fileId: spreadsheetId,
    requestBody: { type: 'user', role: 'writer', emailAddress: 'grace@example.com' },
  })
  const { sheetsApi } = await clientsOf(google, 'grace@example.com', [driveFile])
  await assert.rejects(sheetsApi.spreadsheets.get({ spreadsheetId }), { status: 404 })
  await google.control('POST', 'pick', { user: 'grace@example.com', spreadsheetId })
  assert.equal((await sheetsApi.spreadsheets.get({ spreadsheetId })).status, 200)

  const body = JSON.stringify({ user: 'lin@example.com', spreadsheetId })
  const refused = await fetch(`${google.url}/_control/pick`, { method: 'POST', body })
  assert.equal(refused.status, 400)
})

test('the spreadsheets scope sees all spreadsheets, and Drive needs a scope of its own', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [['name']], { pickedBy: false })
  const { sheetsApi, driveApi } = await clientsOf(google, 'ada@example.com', [spreadsheetsScope])
  assert.equal((await sheetsApi.spreadsheets.get({ spreadsheetId })).status, 200)
  await assert.rejects(driveApi.files.list(), {
    status: 403,
    message: 'Request had insufficient authentication scopes.',
  })
  const both = await clientsOf(google, 'ada@example.com', [spreadsheetsScope, driveFile])
  assert.equal((await both.sheetsApi.spreadsheets.get({ spreadsheetId })).status, 200)
  assert.deepEqual((await both.driveApi.files.list()).data.files, [])
})

const client = { client_id: '123456789-shop', client_secret: 'any' }
const request = {
  client_id: client.client_id,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: driveFile,
  access_type: 'offline',
  login_hint: 'ada@example.com',
}

test('the page offers the files of each account; what stays ticked is picked for this app', async (t) => {
  const google = await startLocalGoogle(t)
  const create = async (title: string, owner: string): Promise<string> => {
    const made = { title, owner, tabs: [], pickedBy: false }
    const tabs = [{ title: 'Items', values: [['name']] }]
    return (await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', { ...made, tabs }))
      .spreadsheetId
  }
  const kept = await create('Kept <b>', 'ada@example.com')
  const unticked = await create('Unticked', 'ada@example.com')
  const foreign = await create('Of grace', 'grace@example.com')
  const shared = await create('Shared', 'grace@example.com')
  const { access_token: ofGrace } = await google.tokens('grace@example.com')
  await google.api(ofGrace, 'POST', `/drive/v3/files/${shared}/permissions`, {
    type: 'user',
    role: 'writer',
    emailAddress: 'ada@example.com',
  })
  const page = `${google.url}/o/oauth2/v2/auth?${new URLSearchParams(request)}`
  const html = await (await fetch(page)).text()
  assert.match(html, /Kept &lt;b&gt;/)
  const form = formOf(html)
  assert.deepEqual(form.getAll('picked_file').sort(), [
    ...[kept, unticked, shared].map((id) => `ada@example.com ${id}`).sort(),
    ...[foreign, shared].map((id) => `grace@example.com ${id}`).sort(),
  ])
  // The box of the other account stays ticked: it is hers.
  form.delete('picked_file', `ada@example.com ${shared}`)
  form.delete('picked_file', `ada@example.com ${unticked}`)
  form.append('picked_file', `ada@example.com ${foreign}`)
  form.set('decision', 'allow')
  const response = await fetch(page, { method: 'POST', body: form, redirect: 'manual' })
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const { body } = await google.exchange({
    ...client,
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
  })
  const status = async (token: string, id: string) =>
    (await google.api(token, 'GET', `/v4/spreadsheets/${id}`)).status
  const token = String(body.access_token)
  assert.deepEqual(
    await Promise.all([kept, unticked, foreign, shared].map((id) => status(token, id))),
    [200, 404, 404, 404],
  )
  const otherApp = await google.control<{ access_token: string }>('POST', 'tokens', {
    user: 'ada@example.com',
    scopes: [driveFile],
    clientId: '987654321-other',
  })
  assert.equal(await status(otherApp.access_token, kept), 404)
})

test('a page without drive.file offers no files; automatic mode picks when told to', async (t) => {
  const google = await startLocalGoogle(t)
  const spreadsheet = { title: 'Shop', owner: 'ada@example.com', pickedBy: [] }
  const { spreadsheetId } = await google.control<{ spreadsheetId: string }>(
    'POST',
    'spreadsheets',
    spreadsheet,
  )
  const page = (scope: string): string =>
    `${google.url}/o/oauth2/v2/auth?${new URLSearchParams({ ...request, scope })}`
  assert.doesNotMatch(await (await fetch(page(spreadsheetsScope))).text(), /picked_file/)
  const { access_token } = await google.tokens('ada@example.com', [driveFile])
  const get = async () => (await google.api(access_token, 'GET', `/v4/spreadsheets/${spreadsheetId}`)).status
  const { client_id: _named, ...anyClient } = request
  for (const [pick, status] of [
    [false, 404],
    [true, 200],
  ] as const) {
    await google.control('POST', 'settings', { autoConsent: { pick } })
    const parameters = new URLSearchParams({ ...anyClient, client_id: 'shop' })
    await fetch(`${google.url}/o/oauth2/v2/auth?${parameters}`, { redirect: 'manual' })
    assert.equal(await get(), status)
  }
})
