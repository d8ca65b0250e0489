import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('a key column is chosen, refused with the rows that are in the way, used in the console, and turned off', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { path } = await rowport.connectFile('stock', 'stock.csv', 'sku,name\nA-1,Lamp\nA-2,Lamp\n')
  const keyColumn = async () => done(await rowport.workshop.sheets.list('acme'))[0]?.keyColumn
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets/stock/settings')
  const choice = page.getByLabel('Rows are identified by')
  await choice.selectOption({ label: 'name' })
  await page.getByText(/cannot name the rows: rows 2, 3 have a value that another row has too/i).waitFor()
  await look('60-key-column-refused', 'state')
  assert.equal(await keyColumn(), null)
  await choice.selectOption({ label: 'sku' })
  await page.getByRole('switch', { name: 'New rows get a key' }).click()
  await page.getByRole('switch', { name: 'New rows get a key', checked: true }).waitFor()
  assert.equal(await keyColumn(), 'sku')
  await look('61-key-column')

  const parts = page.getByRole('navigation', { name: 'Parts of this sheet' })
  await parts.getByText('Console').click()
  await page.getByLabel('Row', { exact: true }).fill('a-2')
  await page.getByText('/api/sheets/acme/stock/by/sku/a-2').waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('"A-2"').waitFor()
  await page.getByLabel('Method').selectOption('PATCH')
  await page.getByLabel('Query').fill('dry_run=true')
  await page.getByText('A dry run: nothing will change.').waitFor()
  await look('62-console-by-key')

  await writeFile(path, 'sku,name\nA-1,Lamp\nA-1,Table\n')
  rowport.clock.advanceMs(60_000)
  await parts.getByText('Rows').click()
  await page.getByText('Rows with a key that another row has too: 2, 3.').waitFor()
  await look('63-rows-with-repeats')
  await parts.getByText('Settings').click()
  await choice.selectOption({ label: 'Row number only' })
  await page.getByRole('status').getByText('Saved.').waitFor()
  // On a fast machine that is still said of the choice before.
  while ((await keyColumn()) !== null) await sleep(20)
})
