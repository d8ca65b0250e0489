import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeXlsx } from 'hucre/xlsx'
import type { Page } from 'playwright-core'
import { startTogether } from '../connect/with-google.ts'
import { done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { createLooks, skip, tabTo } from './looks.ts'

const laterMs = 16 * 60_000
const settings = { baseUrl: 'http://127.0.0.1:0' }

test('by a link, with a file: empty pages that help, an upload, what changes elsewhere, a file that is gone, and the end of a sheet', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { baseUrl, signIn, sheets, accounts } = rowport.workshop
  const { page, look, load, complaints } = await createLooks(t)
  const linkTo = async () => `${baseUrl}/sign-in-link?token=${done(await signIn.createLink('acme')).token}`
  await load(await linkTo(), 'Welcome to Rowport')
  await look('30-by-link', 'state')
  await signInByLink(page)

  await load(`${baseUrl}/sheets`, 'No sheets yet')
  await page.setViewportSize({ width: 380, height: 900 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await look('31-no-sheets-menu-open', 'state')
  await page.getByRole('main').getByRole('link', { name: 'Connect a sheet' }).click()
  await page.getByText('Upload a file').waitFor()
  await page.getByLabel('File', { exact: true }).setInputFiles(await workbook())
  await page.getByRole('button', { name: /Tab: Prices/ }).waitFor()
  await page.getByText('Changes to your original aren’t synced').waitFor()
  await look('32-files', 'state')
  await page.getByRole('button', { name: /Tab: Prices/ }).click()
  await page.getByText('"Lamp 1"').waitFor()
  await page.getByText('Not live yet.').waitFor()
  await page.getByLabel('URL name').fill('prices')
  await page.getByRole('button', { name: 'Connect this sheet' }).click()
  await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
  await page.getByRole('link', { name: 'Requests' }).click()
  await page.getByText('No requests yet').waitFor()
  await look('33-no-requests', 'state')

  await page.getByRole('link', { name: 'Rows' }).click()
  await page.getByLabel('Filter by').selectOption('price')
  await page.getByLabel('Condition').selectOption('gte')
  await page.getByLabel('Value').fill('28')
  await page.keyboard.press('Enter')
  await page.getByText('1–2 of 2').waitFor()
  await page.getByRole('button', { name: 'price is at least 28' }).click()
  await page.getByText('1–30 of 30').waitFor()

  // Somebody else pauses it, by the command or in another browser; nobody reloads this page.
  done(await sheets.change('acme', 'prices', { paused: true }))
  await page.getByText('Paused', { exact: true }).waitFor({ timeout: 15_000 })
  done(await sheets.change('acme', 'prices', { paused: false }))

  const { id } = done(await accounts.find('acme'))
  await rm(join(rowport.folder, 'files', id, 'Shop.xlsx'))
  rowport.clock.advanceMs(laterMs)
  await page.getByText('Rowport can’t read this sheet').waitFor({ timeout: 15_000 })
  await page.getByText('Showing the last rows we loaded').waitFor({ timeout: 15_000 })
  await look('34-broken', 'state')

  await page.getByRole('navigation', { name: 'Parts of this sheet' }).getByText('Settings').click()
  await page.getByRole('button', { name: 'Disconnect this sheet' }).click()
  await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
  const command = page.getByText('account link acme')
  await command.waitFor()
  // A long one goes on in the next line: what is hidden beside a button, nobody can read to an administrator.
  const hiddenPx = await command.evaluate(({ parentElement: box }) =>
    box === null ? Number.NaN : box.scrollWidth - box.clientWidth,
  )
  assert.equal(hiddenPx, 0)
  await look('35-confirm-by-link', 'state')
  const other = await page.context().newPage()
  await other.goto(await linkTo())
  await signInByLink(other)
  await other.close()
  await page.bringToFront()
  await page.waitForURL('**/sheets', { timeout: 15_000 })
  await page.getByText('No sheets yet').waitFor()

  await load(`${baseUrl}/sheets/nothing`, 'Sheet not found')
  await look('36-no-such-sheet', 'state')
  await load(`${baseUrl}/usage`, 'This month')
  await look('37-no-usage', 'state')
  await signIn.endAll(id)
  await page.waitForURL('**/sign-in?next=%2Fusage', { timeout: 15_000 })
  // What the browser tells of: rows that are not to be had, a sign-in too old, a sheet that is not there, a session that ended.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of (?:401|403|404|502)/.test(complaint)),
    [],
  )
})

test('without a password, Google confirms in a tab of its own, and what was typed is still there', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { rowport, google } = await startTogether(t)
  const { baseUrl } = rowport.workshop
  await google.control('POST', 'settings', { autoConsent: { user: 'grace@example.com' } })
  const { page, look } = await createLooks(t)
  await page.goto(`${baseUrl}/sign-in?next=/settings`)
  await page.getByRole('link', { name: 'Continue with Google' }).click()
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByRole('dialog').getByText('Uploaded files are deleted').waitFor()
  await page.getByLabel('Type grace to confirm').fill('grace')
  await look('38-delete-account', 'state')
  rowport.clock.advanceMs(laterMs)
  await page.getByRole('button', { name: 'Delete account permanently' }).click()
  await page.getByText('Confirm it’s you').waitFor()
  await look('39-confirm-by-google', 'state')
  // Whoever would rather not is where they were.
  await page.keyboard.press('Escape')
  await page.getByText('You signed in a while ago').waitFor()
  assert.equal(await page.getByLabel('Type grace to confirm').inputValue(), 'grace')
  await tabTo(page, /^Delete account permanently$/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Continue with Google/)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')])
  await tab.waitForURL('**/confirmed').catch(() => {})
  await page.bringToFront()
  await page.waitForURL('**/sign-in', { timeout: 15_000 })
  assert.equal(await rowport.workshop.store.countAccounts(), 1)
})

async function signInByLink(page: Page): Promise<void> {
  await tabTo(page, /^Sign in$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Welcome, acme' }).waitFor()
}

async function workbook() {
  const rows = [['name', 'price'], ...Array.from({ length: 30 }, (_, n) => [`Lamp ${n}`, n])]
  const sheets = [
    { name: 'Notes', rows: [['text'], ['hello']] },
    { name: 'Prices', rows },
  ]
  const buffer = Buffer.from(await writeXlsx({ sheets }))
  return { name: 'Shop.xlsx', mimeType: 'application/octet-stream', buffer }
}
