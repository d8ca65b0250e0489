import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { startReceiver, until } from '../webhooks/receiver.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

test('a webhook is added, tested, seen at work, paused, sent again and removed', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, {
    settings: { baseUrl: 'http://127.0.0.1:0', webhookNetworks: ['127.0.0.1'] },
  })
  const sheet = await rowport.connectFile('stock', 'stock.csv', 'name,price\nLamp,59\n')
  const key = await rowport.createKey()
  await rowport.get(sheet.formB, bearer(key))
  const receiver = await startReceiver(t)
  const { page, look, complaints } = await createLooks(t)
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  await signInByLink(page, rowport, '/webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await look('60-webhooks-none', 'state')

  await button('Add webhook').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('https://10.0.0.1/hook')
  await dialog.getByLabel('Send').selectOption('stock')
  await dialog.getByLabel('Rows deleted').uncheck()
  await look('61-webhook-add', 'state')
  complaints.splice(0)
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  await dialog.getByText(/not on the public internet/).waitFor()
  assert.match(complaints.splice(0).join(), /400/)
  await dialog.getByLabel('URL').fill(receiver.url)
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  const secret = await page.getByTestId('webhook-secret').textContent()
  assert.match(secret ?? '', /^whsec_/)
  receiver.secrets = [secret ?? '']
  await button('Close without copying').click()

  await button(/^Manage/).click()
  await button('Send test event').click()
  await page.getByText(/^Test accepted: 200 in/).waitFor()
  const body = JSON.stringify({ name: 'Stool', price: 20 })
  await fetch(rowport.url + sheet.formB, { method: 'POST', headers: bearer(key), body })
  await until('it came', () => receiver.changes().length === 1)
  const delivered = page.locator('details').filter({ hasText: 'rows.changed' })
  await delivered.locator('summary').click()
  await delivered.getByText('thanks').waitFor()
  await look('62-webhook-deliveries')
  receiver.behavior = () => ({ status: 500, body: 'It broke.' })
  await button('Send test event').click()
  await page.getByText('Test not accepted: it returned 500.').waitFor()
  receiver.behavior = () => ({ status: 200 })
  await button('Send all again').click()
  await button('Send again').click()
  await until('it came again', () => receiver.changes().length === 2)
  await button('Pause').click()
  await button('Resume').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('paused', { exact: true }).waitFor()
  await look('63-webhooks')
  await button(/^Manage/).click()
  await button('Remove').click()
  await button('Remove webhook').click()
  await page.getByText('No webhooks yet').waitFor()
  assert.deepEqual(complaints, [])
})
