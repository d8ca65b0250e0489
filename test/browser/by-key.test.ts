import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { createLedger } from '../providers/ledger/ledger.ts'
import { startLedgerServer } from '../providers/ledger/ledger-server.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

test('a provider that the app has never heard of: connected by a pasted key, chosen, previewed, disconnected', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const ledger = await startLedgerServer(t)
  const rowport = await startRowport(t, {
    settings: { baseUrl: 'http://127.0.0.1:0' },
    createMore: (parts) => [createLedger(parts, ledger.url)],
  })
  ledger.create('ada', 'Expenses', [
    ['name', 'amount'],
    ['Rent', 900],
  ])
  const { page, look, complaints } = await createLooks(t)
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  await signInByLink(page, rowport, '/connect')
  await page.getByText('Ledger books', { exact: true }).click()
  await page.getByText('Make a token at your ledger and paste it here.').waitFor()
  await look('47-connect-by-key', 'state')
  complaints.splice(0)
  await page.getByLabel('Token').fill('nonsense')
  await button('Connect Ledger').click()
  await page.getByText('The ledger does not know this token. Nothing was saved.').waitFor()
  assert.match(complaints.splice(0).join(), /502/)

  const token = ledger.grant('ada')
  await page.getByLabel('Token').fill(token)
  await button('Connect Ledger').click()
  await button('Expenses').click()
  await page.getByText('Rent').waitFor()
  await button('Connect this sheet').click()
  await page.waitForURL('**/sheets/expenses')
  await page.getByRole('link', { name: /^Sheets/ }).click()
  await page.getByText('Ledger · Expenses').waitFor()

  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByText('1 sheet uses it.').waitFor()
  await button('Disconnect').click()
  await page.getByRole('dialog').getByText('Disconnect Ledger?').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click()
  await page.getByText('Disconnected, and access revoked in Ledger.').waitFor()
  assert.equal(ledger.isGranted(token), false)
  await page.getByRole('link', { name: /^Sheets/ }).click()
  await page.getByText('Reconnect Ledger').waitFor()
  assert.deepEqual(complaints, [])
})
