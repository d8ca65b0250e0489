import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeSingleByte } from '../../src/providers/file/csv/encoding/single-byte.ts'
import { startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('letters that look wrong are put right by naming the encoding of the file', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  await rowport.connectFile('rivers', 'rivers.csv', encodeSingleByte('name\nŘeka\n', 'windows-1250'))
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets/rivers/settings')
  const choice = page.getByLabel('The file is in')
  assert.equal(await choice.inputValue(), 'automatic')
  await choice.selectOption('windows-1250')
  await page.getByRole('status').getByText('Saved.').waitFor()
  await look('64-encoding')
  await page.getByRole('navigation', { name: 'Parts of this sheet' }).getByText('Rows').click()
  await page.getByText('Řeka').waitFor()
})
