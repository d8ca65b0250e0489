import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoggedCall } from '../../emulator/call-log.ts'
import { startLocalGoogle } from './harness.ts'

const calls: [method: string, path: string, body: unknown, kind: string, name: string][] = [
  ['POST', '', {}, 'write', 'spreadsheets.create'],
  ['GET', '/ID', undefined, 'read', 'spreadsheets.get'],
  ['POST', '/ID:batchUpdate', { requests: [] }, 'write', 'spreadsheets.batchUpdate'],
  ['POST', '/ID:getByDataFilter', { dataFilters: [] }, 'read', 'spreadsheets.getByDataFilter'],
  ['GET', '/ID/developerMetadata/5', undefined, 'read', 'developerMetadata.get'],
  ['POST', '/ID/developerMetadata:search', { dataFilters: [] }, 'read', 'developerMetadata.search'],
  ['POST', '/ID/sheets/0:copyTo', { destinationSpreadsheetId: 'ID' }, 'write', 'sheets.copyTo'],
  ['GET', '/ID/values/A1', undefined, 'read', 'values.get'],
  ['GET', '/ID/values:batchGet?ranges=A1', undefined, 'read', 'values.batchGet'],
  ['POST', '/ID/values:batchGetByDataFilter', { dataFilters: [] }, 'read', 'values.batchGetByDataFilter'],
  ['PUT', '/ID/values/A1?valueInputOption=RAW', { values: [['x']] }, 'write', 'values.update'],
  ['POST', '/ID/values/A1:append?valueInputOption=RAW', { values: [['x']] }, 'write', 'values.append'],
  ['POST', '/ID/values/A1%3Aappend?valueInputOption=RAW', { values: [['x']] }, 'write', 'values.append'],
  ['POST', '/ID/values/A1:clear', {}, 'write', 'values.clear'],
  ['POST', '/ID/values:batchUpdate', { valueInputOption: 'RAW', data: [] }, 'write', 'values.batchUpdate'],
  ['POST', '/ID/values:batchClear', { ranges: [] }, 'write', 'values.batchClear'],
  [
    'POST',
    '/ID/values:batchUpdateByDataFilter',
    { valueInputOption: 'RAW', data: [] },
    'write',
    'values.batchUpdateByDataFilter',
  ],
  [
    'POST',
    '/ID/values:batchClearByDataFilter',
    { dataFilters: [] },
    'write',
    'values.batchClearByDataFilter',
  ],
]

test('each method counts against the ration that Google counts it against, whatever its verb', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token } = await google.tokens('ada@example.com')
  const { spreadsheetId } = await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', {
    title: 'Shop',
    owner: 'ada@example.com',
  })
  for (const [method, path, body, kind, name] of calls) {
    const none = kind === 'read' ? { readPerUser: 0 } : { writePerUser: 0 }
    const target = `/v4/spreadsheets${path.replace('ID', spreadsheetId)}`
    const call = () => google.api(access_token, method, target, body)
    await google.control('POST', 'settings', { quotas: none })
    assert.equal((await call()).status, 429, name)
    const others = kind === 'read' ? { writePerUser: 0 } : { readPerUser: 0 }
    await google.control('POST', 'settings', { quotas: others })
    assert.notEqual((await call()).status, 429, name)
    const { calls: logged } = await google.control<{ calls: LoggedCall[] }>('GET', 'calls')
    assert.deepEqual([logged.at(-1)?.kind, logged.at(-1)?.name], [kind, name])
  }
  await google.control('POST', 'settings', { quotas: { perUser: 0, perProject: 0 } })
  assert.equal((await google.api(access_token, 'GET', '/drive/v3/files')).status, 200)
})
