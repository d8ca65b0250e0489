import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer } from '../harness.ts'
import { refusalIn, signedIn } from './visitor.ts'
import { startTogether } from './with-google.ts'

const apiKey = 'AIza-the-key-of-this-server'

test('a spreadsheet that is open to everybody with the link is read by an API key, typed as ever, and not written to', async (t) => {
  const { rowport, google, createSpreadsheet } = await startTogether(t, { isRegistered: false, apiKey })
  await google.control('POST', 'api-keys', { key: apiKey })
  const owner = await signedIn(rowport)
  const spreadsheetId = await createSpreadsheet('Prices')
  const tabs = () => owner.call('GET', `/google/spreadsheets/${spreadsheetId}/tabs`)
  assert.match(refusalIn(await tabs()), /not open to everybody with the link.*Anyone with the link/i)
  await google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'writer' })
  assert.equal((await tabs()).status, 200)
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  const connected = await owner.call('POST', '/sheets', { slug: 'prices', access: 'private', source })
  assert.equal(connected.status, 201, connected.text)

  const key = await rowport.createKey()
  const rows = await rowport.get('/api/sheets/acme/prices', bearer(key))
  assert.deepEqual(await rows.json(), [
    { name: 'Oak table', price: 420, 'in stock': true },
    { name: 'Desk lamp', price: 59.9, 'in stock': false },
  ])
  for (const [method, path, body] of [
    ['POST', '', '{"name":"Rug"}'],
    ['PATCH', '/2', '{"price":1}'],
    ['DELETE', '/2', undefined],
  ] as const) {
    const init = { method, headers: bearer(key), ...(body && { body }) }
    const refused = await fetch(`${rowport.workshop.baseUrl}/api/sheets/acme/prices${path}`, init)
    assert.equal(refused.status, 403, method)
    const { code, details } = (await refused.json()) as { code: string; details: string }
    assert.equal(code, 'sheet_read_only', method)
    assert.match(details, /read by its public link and cannot be written to/, method)
  }
  const { calls } = await google.control<{ calls: { kind: string }[] }>('GET', 'calls')
  assert.equal(calls.filter(({ kind }) => kind === 'write').length, 0)
})

test('what the key or the sharing lacks is said with who can help', async (t) => {
  const { rowport, google, createSpreadsheet } = await startTogether(t, { isRegistered: false, apiKey })
  const owner = await signedIn(rowport)
  const spreadsheetId = await createSpreadsheet('Prices')
  await google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' })
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  await owner.call('POST', '/sheets', { slug: 'prices', access: 'public-read', source })
  const read = async () => {
    // One failure answers all who come right after it.
    rowport.clock.advanceMs(61_000)
    const answer = await rowport.get('/api/sheets/acme/prices', { 'Cache-Control': 'no-cache' })
    return `${answer.status} ${await answer.text()}`
  }
  assert.match(await read(), /^200 /)
  await google.control('POST', 'settings', { disabledServices: ['sheets'] })
  assert.match(await read(), /^502 .*enable the Google Sheets API in the project of the API key/)
  await google.control('POST', 'settings', { disabledServices: [] })
  await google.control('POST', 'api-keys', { key: 'another' })
  assert.match(await read(), /^502 .*does not accept the API key.*GOOGLE_API_KEY/)
  assert.doesNotMatch(await read(), /AIza/)
})

test('who has connected Google reads what is open to everybody too, and without a key nobody does', async (t) => {
  const { rowport, google, connect, createSpreadsheet } = await startTogether(t, { apiKey })
  const owner = await signedIn(rowport)
  await connect(owner)
  const spreadsheetId = await createSpreadsheet('Open', { owner: 'grace@example.com', pickedBy: false })
  const tabs = () => owner.call('GET', `/google/spreadsheets/${spreadsheetId}/tabs`)
  assert.equal((await tabs()).status, 502)
  await google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' })
  assert.equal((await tabs()).status, 200)

  const bare = await startTogether(t, { isRegistered: false })
  const other = await signedIn(bare.rowport)
  const refused = await other.call('GET', `/google/spreadsheets/${spreadsheetId}/tabs`)
  assert.match(refusalIn(refused), /Google is not connected/)
})
