import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { decodeXlsx, listXlsxTabs } from './xlsx.ts'

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))

const HEADER = ['id', 'name', 'day', 'at', 'time', 'worked', 'price', 'share', 'ok', 'code', 'note', 'err']
const FIRST = [
  1,
  'Ärger & <b>',
  '2026-11-15',
  '2026-11-15T09:30:00',
  '09:30:00',
  '26:30:00',
  12.5,
  0.25,
  true,
  '0050',
  'two\nlines',
  '#N/A',
]
const SECOND = [
  2,
  '  spaces ',
  '1999-12-31',
  '2000-02-29T23:59:59',
  '00:00:01',
  '01:30:00',
  -3,
  1,
  false,
  '1E5',
  'tab\there',
]

test('a workbook written by openpyxl, which leaves formulas without a result', async () => {
  const bytes = fixture('openpyxl.xlsx')
  assert.deepEqual(await listXlsxTabs(bytes), ['Orders', 'Wörter'])
  assert.deepEqual((await decodeXlsx(bytes, {})).rows, [HEADER, FIRST, SECOND, [], [null, 'merged']])
  assert.deepEqual((await decodeXlsx(bytes, { tab: 'Hidden' })).rows, [['secret']])
})

test('the same workbook saved by LibreOffice', async () => {
  const bytes = fixture('libreoffice.xlsx')
  assert.deepEqual(await listXlsxTabs(bytes), ['Orders', 'Wörter'])
  assert.deepEqual((await decodeXlsx(bytes, {})).rows, [HEADER, FIRST, SECOND, [], [3, 'merged']])
})

test('a workbook written by XlsxWriter, with a chart sheet', async () => {
  const bytes = fixture('xlsxwriter.xlsx')
  assert.deepEqual(await listXlsxTabs(bytes), ['Data'])
  assert.deepEqual((await decodeXlsx(bytes, {})).rows, [
    ['when', 'text', 'rich', 'n', 'formula', 'bool', 'error'],
    ['2026-11-15T21:05:00', '0050', 'plain bold end', 1e-7, 2, true, '#N/A'],
    [0, null, null, null, 'ab'],
  ])
})
