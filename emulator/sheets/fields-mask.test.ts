import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyMask, parseMask } from './fields-mask.ts'

const answer = {
  properties: { title: 'T', locale: 'en_US' },
  sheets: [{ properties: { sheetId: 0, gridProperties: { rowCount: 5, columnCount: 2 } } }, {}],
}

function masked(fields: string): unknown {
  const mask = parseMask(fields)
  assert.ok(mask, `${fields} is a mask`)
  return applyMask(answer, mask)
}

test('dots, slashes and nested brackets name the same fields', () => {
  const expected = { sheets: [{ properties: { gridProperties: { rowCount: 5 } } }, {}] }
  assert.deepEqual(masked('sheets.properties.gridProperties.rowCount'), expected)
  assert.deepEqual(masked('sheets/properties/gridProperties/rowCount'), expected)
  assert.deepEqual(masked('sheets(properties(gridProperties(rowCount)))'), expected)
})

test('several fields add up and a list keeps its length', () => {
  assert.deepEqual(masked('properties.title,sheets(properties.sheetId)'), {
    properties: { title: 'T' },
    sheets: [{ properties: { sheetId: 0 } }, {}],
  })
  assert.deepEqual(masked('*'), answer)
})

test('malformed masks are no masks', () => {
  for (const fields of ['sheets(', 'a,,b', 'a)', '.a']) assert.equal(parseMask(fields), undefined)
})
