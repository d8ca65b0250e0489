import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Spreadsheet } from './model.ts'
import { answerOnce } from './repeated-answers.ts'

const spreadsheet = { spreadsheetId: 'S' } as Spreadsheet
const asked = {
  name: 'values.batchGetByDataFilter',
  target: '',
  query: new URLSearchParams(),
  body: { dataFilters: [{ gridRange: { sheetId: 0 } }] },
  user: 'ada@example.com',
}

test('the same question gets the same answer, and another one its own', () => {
  const first = answerOnce(spreadsheet, asked, () => ({}))
  assert.equal(
    answerOnce(spreadsheet, { ...asked, body: structuredClone(asked.body) }, () => ({})),
    first,
  )
  const others = [
    { ...asked, body: { dataFilters: [{ gridRange: { sheetId: 1 } }] } },
    { ...asked, user: 'bob@example.com' },
    { ...asked, query: new URLSearchParams('fields=sheets') },
    { ...asked, name: 'spreadsheets.getByDataFilter' },
  ]
  for (const other of others)
    assert.notEqual(
      answerOnce(spreadsheet, other, () => ({})),
      first,
    )
  const changed = { ...spreadsheet }
  assert.notEqual(
    answerOnce(changed, asked, () => ({})),
    first,
  )
})

test('how it is written, and who is charged, does not change what is answered', () => {
  const first = answerOnce(spreadsheet, asked, () => ({}))
  const query = new URLSearchParams('prettyPrint=false&quotaUser=x')
  assert.equal(
    answerOnce(spreadsheet, { ...asked, query }, () => ({})),
    first,
  )
})
