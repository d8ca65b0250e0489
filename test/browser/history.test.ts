import assert from 'node:assert/strict'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const csv = 'sku,name,price\nA-1,Lamp,59\nB-2,Table,420\nC-3,Stool,35\nD-4,Desk,310\n'

test('history says who changed which rows, and a write is undone after a look at what that does', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  const { path, formA } = await rowport.connectFile('stock', 'stock.csv', csv)
  const key = await rowport.createKey()
  const write = async (method: string, where: string, body?: object) => {
    const response = await fetch(rowport.url + formA + where, {
      method,
      headers: bearer(key),
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, await response.text())
  }
  await rowport.get(formA, bearer(key))
  await write('PATCH', '/3', { price: 399, name: 'Oak table' })
  await write('DELETE', '/2')
  await write('POST', '', [{ sku: 'E-5', name: 'Shelf', price: 80 }, { sku: 'F-6' }])

  const { page, look, complaints } = await createLooks(t)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  await signInByLink(page, rowport, '/sheets/stock/history')
  await page.getByText('2 rows added').waitFor()
  complaints.splice(0)
  const writes = page.getByRole('list', { name: 'Changes, newest first' }).locator('> li')
  assert.equal(await writes.count(), 3)
  assert.match(
    (await writes.nth(2).innerText()).replaceAll(/\s+/g, ' '),
    /^test .*1 row changed.*Row 3.*Table.*→.*Oak table/,
  )
  await look('70-history', 'page')

  await button('Undo: 1 row deleted').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('What happens: 1 row added').waitFor()
  await look('71-undo-preview', 'state')
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone: 1 row added.').waitFor()
  await page.getByText('You, in the dashboard').first().waitFor()
  assert.match(await readFile(path, 'utf8'), /^sku,name,price\nA-1,Lamp,59\nB-2,Oak table,399\n/)

  const content = (await readFile(path, 'utf8')).replace('E-5,Shelf', 'E-5,Tall shelf')
  await writeFile(path, content)
  const at = new Date(Date.now() - 3_600_000)
  await utimes(path, at, at)
  await button('Undo: 2 rows added').click()
  await dialog.getByText('It can no longer be undone').waitFor()
  await dialog.getByText('has other values in "name"').waitFor()
  await look('72-undo-conflict', 'state')
  await dialog.getByRole('button', { name: 'Close' }).click()
  assert.equal(await readFile(path, 'utf8'), content)
  await page.getByText('In the spreadsheet').waitFor()

  await page.goto(`${rowport.url}/sheets/stock/rows`)
  await button('Open row 3').click()
  await dialog.getByRole('link', { name: 'History' }).click()
  await page.getByText('Show all rows').waitFor()
  assert.match(page.url(), /history\?row=3/)
  await page.getByText('1 row changed').waitFor()
  assert.equal(await writes.count(), 1)

  await page.goto(`${rowport.url}/sheets/stock/settings`)
  const history = page.locator('section', { hasText: 'Keep history for' })
  await history.getByLabel('Keep history for (days)').fill('0')
  await history.getByText('Saving deletes this sheet’s history').waitFor()
  await look('73-history-settings', 'state')
  await history.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await page.getByText('No history is kept').waitFor()
  // The browser's own words for the conflict.
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('409 (Conflict)')),
    [],
  )
})
