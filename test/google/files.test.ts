import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { spreadsheetsScope } from '../emulator/harness.ts'
import { owner, startReadingGround } from './reading-ground.ts'

test('an owner finds spreadsheets by name, newest first, whatever characters it has', async (t) => {
  const { google, local, credentialId, newSpreadsheet } = await startReadingGround(t)
  for (const title of ['Old stock', "It's a \\ shop", 'New stock']) {
    await newSpreadsheet([], title)
    local.clock.advanceMs(1_000)
  }
  const titles = async (search?: string) => {
    const page = await google.files.listSpreadsheets(credentialId, search)
    assert.ok(page !== 'not_allowed')
    return page.spreadsheets.map(({ title }) => title)
  }
  assert.deepEqual(await titles(), ['New stock', "It's a \\ shop", 'Old stock'])
  assert.deepEqual(await titles('stock'), ['New stock', 'Old stock'])
  assert.deepEqual(await titles("it's a \\"), ["It's a \\ shop"])
  assert.deepEqual(await titles("x' or name contains 'stock"), [])
})

test('long lists come in pages', async (t) => {
  const { google, local, credentialId } = await startReadingGround(t)
  for (let at = 0; at < 103; at++) {
    local.emulator.world.createSpreadsheet({
      title: `Sheet ${at}`,
      owner,
      tabs: [{ title: 'A', values: [] }],
    })
  }
  const first = await google.files.listSpreadsheets(credentialId)
  assert.ok(first !== 'not_allowed' && first.nextPageToken !== null)
  assert.equal(first.spreadsheets.length, 100)
  const second = await google.files.listSpreadsheets(credentialId, '', first.nextPageToken)
  assert.ok(second !== 'not_allowed')
  assert.equal(second.spreadsheets.length, 3)
  assert.equal(second.nextPageToken, null)
})

test('the tabs of a spreadsheet, with their sizes; and a spreadsheet that is not there', async (t) => {
  const { google, local, credentialId, newSpreadsheet } = await startReadingGround(t)
  const { spreadsheetId } = await newSpreadsheet([['a']], 'Shop')
  const { access_token } = await local.tokens(owner)
  const requests = [
    {
      addSheet: {
        properties: { title: 'Archive', hidden: true, gridProperties: { rowCount: 7, columnCount: 3 } },
      },
    },
  ]
  await local.api(access_token, 'POST', `/v4/spreadsheets/${spreadsheetId}:batchUpdate`, { requests })
  const { title, tabs } = await google.files.listTabs(credentialId, spreadsheetId)
  assert.equal(title, 'Shop')
  assert.deepEqual(
    tabs.map(({ tabId: _tabId, ...tab }) => tab),
    [
      { title: 'Items', rows: 1_000, columns: 26, isHidden: false },
      { title: 'Archive', rows: 7, columns: 3, isHidden: true },
    ],
  )
  assert.equal(new Set(tabs.map(({ tabId }) => tabId)).size, 2)
  await assert.rejects(google.files.listTabs(credentialId, 'x'.repeat(44)), /not found in Google/)
})

test('a spreadsheet with more tabs than can be listed is told so', async (t) => {
  const { google, local, credentialId, newSpreadsheet } = await startReadingGround(t)
  const { spreadsheetId } = await newSpreadsheet([['a']], 'Shop')
  const { access_token } = await local.tokens(owner)
  const requests = Array.from({ length: 5_000 }, (_, n) => ({
    addSheet: {
      properties: { title: `${n} ${'x'.repeat(90)}`, gridProperties: { rowCount: 1, columnCount: 1 } },
    },
  }))
  await local.api(access_token, 'POST', `/v4/spreadsheets/${spreadsheetId}:batchUpdate`, { requests })
  await assert.rejects(google.files.listTabs(credentialId, spreadsheetId), /more tabs than can be listed/)
})

test('consent to spreadsheets alone does not reach to a list, and asking for one costs nothing', async (t) => {
  const { google, local, credentials } = await startReadingGround(t)
  const { refresh_token } = await local.tokens(owner, [spreadsheetsScope])
  const id = credentials.connect({ subject: owner, refreshToken: refresh_token, scopes: spreadsheetsScope })
  assert.equal(await google.files.listSpreadsheets(id), 'not_allowed')
  assert.equal(credentials.all.get(id)?.state, 'valid')
})

test('an answer of another shape is a failure of Google', async (t) => {
  const { google, local, credentialId, newSpreadsheet } = await startReadingGround(t)
  const { spreadsheetId } = await newSpreadsheet([])
  await local.control('POST', 'faults', { kind: 'wrongTypes', rate: 1 })
  await assert.rejects(google.files.listTabs(credentialId, spreadsheetId), ProviderFailure)
  await local.control('DELETE', 'faults')
  const body = { files: [{ id: 5 }] }
  await local.control('POST', 'faults', { match: { service: 'drive' }, kind: 'answer', status: 200, body })
  await assert.rejects(google.files.listSpreadsheets(credentialId), ProviderFailure)
})
