import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSpreadsheet, startClients } from './google-clients.ts'

test('with an API key anybody reads what is shared with everybody, and writes nothing', async (t) => {
  const google = await startClients(t)
  const open = await createSpreadsheet(google, [['a'], [1]])
  const closed = await createSpreadsheet(google, [['b']])
  await google.driveApi.permissions.create({
    fileId: open,
    requestBody: { type: 'anyone', role: 'writer' },
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${google.url}/v4/spreadsheets/${path}`, init)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const read = await ask(`${open}/values/A1:A2?key=any`)
  assert.deepEqual([read.status, read.body.values], [200, [['a'], ['1']]])
  assert.equal((await ask(`${open}/?key=any&fields=spreadsheetId`)).status, 200)
  const header = await ask(`${open}?fields=spreadsheetId`, { headers: { 'X-Goog-Api-Key': 'any' } })
  assert.equal(header.status, 200)
  assert.equal((await ask(`${closed}/values/A1?key=any`)).status, 403)
  assert.equal((await ask(`${open}/values/A1`)).status, 403, 'without a key nothing')
  const body = JSON.stringify({ values: [['x']] })
  const write = await ask(`${open}/values/A1?key=any&valueInputOption=RAW`, { method: 'PUT', body })
  assert.equal(write.status, 401)
  assert.deepEqual((await ask(`${open}/values/A1:A2?key=any`)).body.values, [['a'], ['1']])
  assert.equal((await fetch(`${google.url}/drive/v3/files?key=any`)).status, 403)

  await google.control('POST', 'settings', { quotas: { perUser: 1 } })
  assert.equal((await ask(`${open}/values/A1?key=any`)).status, 200)
  assert.equal((await ask(`${open}/values/A1?key=any`)).status, 429)
})

test('a tab is downloaded as text from where people open it', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [['first']])
  const { data } = await google.sheetsApi.spreadsheets.batchUpdate({
    spreadsheetId,
    requestBody: { requests: [{ addSheet: { properties: { title: 'Second' } } }] },
  })
  const gid = data.replies?.[0]?.addSheet?.properties?.sheetId
  await google.sheetsApi.spreadsheets.values.update({
    spreadsheetId,
    range: 'Second!A1',
    valueInputOption: 'USER_ENTERED',
    requestBody: { values: [['a,b', 2.5]] },
  })
  const { access_token: token } = await google.tokens('ada@example.com')
  const { access_token: stranger } = await google.tokens('bob@example.com')
  const download = async (query: string, bearer = token) => {
    const answer = await google.api(bearer, 'GET', `/spreadsheets/d/${spreadsheetId}/export?${query}`)
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  assert.deepEqual(await download(`format=csv&gid=${gid}`), [200, 'text/csv', '"a,b",2.5'])
  assert.deepEqual(await download(`format=tsv&gid=${gid}`), [200, 'text/tab-separated-values', 'a,b\t2.5'])
  assert.deepEqual(await download('format=csv'), [200, 'text/csv', 'first'])
  assert.equal((await download('format=csv&gid=12345'))[0], 400)
  assert.equal((await download('format=pdf'))[0], 400)
  assert.equal((await download('format=csv', stranger))[0], 404)
})
