import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderKind } from '../sheets/provider-kind.ts'
import { providerTable } from './provider-table.ts'

const kinds = Object.entries<ProviderKind>(providerTable)

test('a provider is known by one id, and can be named by it in paths, commands and options', () => {
  for (const [id, kind] of kinds) {
    assert.equal(kind.id, id)
    assert.match(id, /^[a-z]{2,20}$/)
  }
})

test('where owners let Rowport in, it is said what to do when that is over', () => {
  for (const [, { connectsBy, whenAccessEnded }] of kinds) {
    assert.equal(whenAccessEnded !== null, connectsBy.length > 0)
  }
})

test('a place is described by what was kept of it, however little that is', () => {
  const { file, google } = providerTable
  const path = '/data/files/acc_1/stock.xlsx'
  assert.deepEqual(file.describe(JSON.stringify({ path, tab: 'Items' })), {
    words: 'stock.xlsx · Items',
    tab: 'Items',
    url: null,
    path,
  })
  const titled = { spreadsheetId: 'abc', tabId: 7, title: 'Shop', tabTitle: 'Items' }
  const url = 'https://docs.google.com/spreadsheets/d/abc/edit#gid='
  assert.deepEqual(google.describe(JSON.stringify(titled)), {
    words: 'Shop · Items',
    tab: 'Items',
    url: `${url}7`,
    path: null,
  })
  assert.deepEqual(google.describe('{"spreadsheetId":"abc"}'), {
    words: 'Google spreadsheet abc',
    tab: null,
    url: `${url}0`,
    path: null,
  })
})
