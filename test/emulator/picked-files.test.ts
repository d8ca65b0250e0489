import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientsOf, createSpreadsheet, startClients } from './google-clients.ts'
import { driveFile, spreadsheetsScope } from './harness.ts'

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

test('about.get tells a drive.file token whose it is, and needs to be told which fields', async (t) => {
  const google = await startClients(t)
  const { driveApi } = await clientsOf(google, 'grace@example.com', [driveFile])
  const fields = 'user(emailAddress,permissionId,displayName)'
  const { user } = (await driveApi.about.get({ fields })).data
  assert.deepEqual(Object.keys(user ?? {}).sort(), ['displayName', 'emailAddress', 'permissionId'])
  assert.equal(user?.emailAddress, 'grace@example.com')
  const spreadsheetId = await createSpreadsheet(google, [['name']])
  const ada = await clientsOf(google, 'ada@example.com', [driveFile])
  const { permissions } = (
    await ada.driveApi.files.get({ fileId: spreadsheetId, fields: 'permissions(id,emailAddress)' })
  ).data
  assert.equal((await ada.driveApi.about.get({ fields })).data.user?.permissionId, permissions?.[0]?.id)
  assert.notEqual(user?.permissionId, permissions?.[0]?.id)

  await assert.rejects(driveApi.about.get(), {
    status: 400,
    message: "The 'fields' parameter is required for this method.",
  })
  const sheetsOnly = await clientsOf(google, 'ada@example.com', [spreadsheetsScope])
  await assert.rejects(sheetsOnly.driveApi.about.get({ fields }), { status: 403 })
})
