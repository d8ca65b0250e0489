import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locateGoogleTab, parseGoogleLocation, parsePastedSpreadsheet } from './google-location.ts'

const id = '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms'

test('a spreadsheet is found in whatever people paste', () => {
  const cases: [string, number?][] = [
    [id],
    [`  ${id}\n`],
    [`https://docs.google.com/spreadsheets/d/${id}/edit`],
    [`https://docs.google.com/spreadsheets/d/${id}`],
    [`docs.google.com/spreadsheets/d/${id}/edit#gid=7`, 7],
    [`https://docs.google.com/spreadsheets/d/${id}/edit?gid=123#gid=123`, 123],
    [`https://docs.google.com/spreadsheets/d/${id}/edit?gid=1#gid=2`, 2],
    [`https://docs.google.com/spreadsheets/d/${id}/edit?gid=0`, 0],
    [`https://docs.google.com/spreadsheets/d/${id}/edit#gid=5&range=A1:B2`, 5],
    [`https://docs.google.com/spreadsheets/u/0/d/${id}/edit?usp=sharing`],
    [`https://docs.google.com/a/example.com/spreadsheets/d/${id}/edit#gid=9`, 9],
    [`https://docs.google.com/spreadsheets/d/${id}/htmlview`],
    [`https://drive.google.com/open?id=${id}`],
    [`https://drive.google.com/file/d/${id}/view?usp=drivesdk`],
    [`https://docs.google.com/spreadsheet/ccc?key=${id}&usp=sharing#gid=3`, 3],
    [`HTTPS://DOCS.GOOGLE.COM/spreadsheets/d/${id}/edit`],
    [`https://docs.google.com/spreadsheets/d/${id}/edit?pli=1&gid=99999999999999#gid=x`],
  ]
  for (const [pasted, tabId] of cases) {
    const expected = tabId === undefined ? { spreadsheetId: id } : { spreadsheetId: id, tabId }
    assert.deepEqual(parsePastedSpreadsheet(pasted), expected, pasted)
  }
})

test('anything else is not guessed at', () => {
  const others = [
    '',
    'Budget 2026',
    'http://',
    'https://docs.google.com/spreadsheets/',
    `https://docs.google.com/document/d/${id}/edit`,
    'https://docs.google.com/spreadsheets/d/e/2PACX-1vQx_abcdefghijklmnop/pubhtml',
    `https://evil.example/spreadsheets/d/${id}/edit`,
    `https://docs.google.com.evil.example/spreadsheets/d/${id}`,
    `javascript://docs.google.com/spreadsheets/d/${id}`,
    'https://docs.google.com/spreadsheets/d/..%2F..%2Fetc/edit',
    `${id}/../x`,
  ]
  for (const pasted of others) assert.equal(parsePastedSpreadsheet(pasted), null, pasted)
})

test('a tab is kept by ids, and all tabs of a spreadsheet share a source', () => {
  const { location, source } = locateGoogleTab({ spreadsheetId: id, tabId: 0 })
  assert.equal(source, `google:${id}`)
  assert.equal(location, `{"spreadsheetId":"${id}","tabId":0}`)
  assert.deepEqual(parseGoogleLocation(location), { spreadsheetId: id, tabId: 0 })
})
