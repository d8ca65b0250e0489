import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { comeBackOnline, signInByLink, watchChanges } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('a sheet becomes public only after a question that says what that means, shows it everywhere, and can be taken back', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const rows = Array.from({ length: 20_000 }, (_, at) => `person ${at}@example.com,${at}\n`)
  const { formA } = await rowport.connectFile('people', 'people.csv', `email,age\n${rows.join('')}`)
  const strangerGets = async () => (await rowport.get(`${formA}?limit=1`)).status
  const { page, look, complaints } = await createLooks(t)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const badge = page.getByRole('main').getByText('Public', { exact: true })
  const choice = (name: string) => page.getByRole('radio', { name: new RegExp(`^${name}`) })
  await signInByLink(page, rowport, '/sheets/people/settings')
  // Asked once, so that it is known how many rows there are.
  await page.getByText('Danger zone').waitFor()
  const changes = watchChanges(page)
  complaints.splice(0)

  await choice('Anyone Reading').click()
  await page
    .getByRole('dialog')
    .waitFor({ timeout: 2_000 })
    .catch(() => {})
  await comeBackOnline(page)
  assert.deepEqual({ changes, strangerGets: await strangerGets() }, { changes: [], strangerGets: 401 })
  await page.getByRole('dialog').getByText('can read all 20,000 rows').waitFor()
  await look('44-make-public', 'state')
  await button('Cancel').click()
  assert.equal(await choice('Anyone with a key').isChecked(), true)
  assert.equal(await badge.count(), 0)

  await choice('Anyone Reading').click()
  await button('Make public').click()
  await badge.waitFor()
  assert.equal(await strangerGets(), 200)
  await page.getByRole('link', { name: 'Sheets', exact: true }).click()
  await page.getByRole('table').getByText('Public', { exact: true }).waitFor()
  await button('Undo').click()
  await page.getByText('Private again').waitFor()
  await badge.waitFor({ state: 'hidden' })
  assert.equal(await strangerGets(), 401)

  done(await rowport.workshop.sheets.change('acme', 'people', { access: 'public-read' }))
  await page.getByRole('table').getByText('Public', { exact: true }).waitFor({ timeout: 15_000 })
  await look('45-public-in-list')
  await page.getByRole('link', { name: 'people' }).click()
  await badge.waitFor()
  await look('46-public')
  await page.getByRole('navigation', { name: 'Parts of this sheet' }).getByText('Settings').click()
  await choice('Anyone with a key').click()
  await badge.waitFor({ state: 'hidden' })
  assert.equal(await strangerGets(), 401, 'the way back needs no question')
  assert.deepEqual(complaints, [])
})

test('connecting a sheet for everybody says what that means before and after', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/connect')
  await page.getByLabel('File', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('email\na@example.com\n'),
  })
  await page.getByText('a@example.com').waitFor()
  const plainly = page.getByText('can read its only row')
  assert.equal(await plainly.isVisible(), false)
  await page.getByRole('radio', { name: /^Anyone Reading/ }).click()
  await plainly.waitFor()
  await look('47-connect-public', 'state')
  await page.getByRole('button', { name: 'Connect this sheet' }).click()
  await page.getByText('Connected. Anyone with the URL can read it.').waitFor()
  await page.getByRole('main').getByText('Public', { exact: true }).waitFor()
})
