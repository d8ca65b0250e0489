import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ada, startTogether } from '../connect/with-google.ts'
import { done, type Rowport, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { comeBackOnline, signInByLink, watchChanges } from './at-the-dashboard.ts'
import { createLooks, type Looks, newProfile, skip } from './looks.ts'

const rows = ['name,price', ...Array.from({ length: 8 }, (_, at) => `Lamp ${at + 2},${at}`)]
const csv = `${rows.join('\n')}\n`
/** Less than the pages wait before they look again by themselves. */
const soonMs = 5_000
/** By a name: without a network, only what is on the same machine can be reached. */
const settings = { baseUrl: 'http://rowport.lan:0' }

test('a row that could not be deleted without a network stays, and so does the row that was typed afterwards', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, rowport, changes, path } = await openSheet(t, 'console')
  await page.getByLabel('Method').selectOption('DELETE')
  await page.getByLabel('Row', { exact: true }).fill('6')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Delete row 6', exact: true }).click()
  const told = await isToldSoon(page)
  await page.getByLabel('Row', { exact: true }).fill('3')
  await comeBackOnline(page)
  assert.deepEqual(
    { told, changes, kept: await readFile(path, 'utf8') },
    { told: true, changes: [], kept: csv },
    'said at once; no request seen; every row still there',
  )

  await page.getByRole('button', { name: 'Delete row 3', exact: true }).click()
  await page.getByText('200 OK').waitFor()
  assert.match(changes.join(), /DELETE \/api\/sheets\/acme\/lamps\/3$/, 'once asked for, it is done')
  assert.equal(done(await rowport.workshop.sheets.find('acme', 'lamps')).slug, 'lamps')
})

test('what was cancelled is never sent: confirmed without a network, cancelled, and back on the network', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { rowport, google } = await startTogether(t, settings)
  await rowport.connectFile('lamps', 'lamps.csv', csv)
  for (const name of ['shop', 'import'])
    done(
      await rowport.workshop.keys.create({
        accountSlug: 'acme',
        sheetSlug: null,
        name,
        mode: 'live',
        scope: 'read',
      }),
    )
  const { page, look } = await createLooks(t)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await google.control('POST', 'settings', { autoConsent: { user: ada } })
  await signInByLink(page, rowport, '/settings')
  await button('Connect Google').click()
  await page.getByText('Google is connected.').waitFor()
  const changes = watchChanges(page)

  const questions: readonly [
    path: string,
    open: string,
    confirm: string,
    fill?: [label: string, text: string],
  ][] = [
    ['/keys', 'Revoke shop', 'Revoke key'],
    ['/keys', 'Regenerate import', 'Regenerate key'],
    ['/keys', 'Create key', 'Create key', ['Name', 'Website']],
    ['/sheets/lamps/settings', 'Disconnect this sheet', 'Disconnect'],
    ['/settings', 'Disconnect', 'Disconnect'],
    ['/settings', 'Delete account', 'Delete account permanently', ['Type acme to confirm', 'acme']],
  ]
  const outcomes: unknown[] = []
  for (const [path, open, confirm, fill] of questions) {
    await page.goto(rowport.workshop.baseUrl + path)
    await button(open).click()
    const dialog = page.getByRole('dialog')
    if (fill) await dialog.getByLabel(fill[0]).fill(fill[1])
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: confirm, exact: true }).click()
    const told = await isToldSoon(page)
    const isKept = !fill || (await dialog.getByLabel(fill[0]).inputValue()) === fill[1]
    if (open === 'Create key') await look('40-offline', 'state')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await comeBackOnline(page)
    outcomes.push({ open, told, isKept, changes: changes.splice(0) })
  }
  assert.deepEqual(
    outcomes,
    questions.map(([, open]) => ({ open, told: true, isKept: true, changes: [] })),
  )
})

test('what is being sent cannot be cancelled any more, and a lost answer is not called a failure', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  await rowport.createKey()
  await rowport.createKey()
  const page = await (await newProfile(t)).newPage()
  await signInByLink(page, rowport, '/keys')
  const dialog = page.getByRole('dialog')
  const revoke = async () => {
    await page.getByRole('button', { name: 'Revoke test' }).first().click()
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
  }
  const arrived = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  await page.route('**/revoke', async (route) => {
    arrived.resolve()
    await goOn.promise
    await route.continue()
  })
  await revoke()
  await arrived.promise
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
  assert.equal(await dialog.getByRole('button', { name: 'Cancel' }).isEnabled(), false)
  assert.equal(await dialog.isVisible(), true)
  goOn.resolve()
  await page.getByText('Key revoked.').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  // Until the list has been read again the key that has gone is its first still.
  await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)

  await page.unroute('**/revoke')
  await page.route('**/revoke', async (route) => {
    await route.fetch()
    await route.abort('connectionreset')
  })
  await revoke()
  await dialog.getByText('The change may have been made anyway').waitFor()
})

test('no key is taken between what sends a change and what locks its question', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  await rowport.createKey()
  const page = await (await newProfile(t)).newPage()
  await signInByLink(page, rowport, '/keys')
  await page.evaluate(`{
    const send = window.fetch
    const note = async () => {
      // Promises alone: whatever else happens in the page happens after them.
      for (let nth = 0; nth < 100; nth++) await null
      window.stateWhenSent = [...document.querySelectorAll('dialog[open]')].map((dialog) => [
        dialog.getAttribute('closedby'),
        [...dialog.querySelectorAll('button')].every((button) => button.disabled),
      ])
    }
    window.fetch = (...request) => {
      if (String(request[0]).endsWith('/revoke')) note()
      return send(...request)
    }
  }`)
  await page.getByRole('button', { name: 'Revoke test' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Key revoked.').waitFor()
  assert.deepEqual(await page.evaluate('window.stateWhenSent'), [['none', true]])
})

test('whoever leaves the console before its key is there has sent nothing', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, changes, path } = await openSheet(t, 'console')
  const arrived = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  await page.route('**/console-key', async (route) => {
    arrived.resolve()
    await goOn.promise
    await route.continue()
  })
  await page.getByLabel('Method').selectOption('DELETE')
  await page.getByLabel('Row', { exact: true }).fill('6')
  await page.getByRole('button', { name: 'Delete row 6', exact: true }).click()
  await arrived.promise
  await page.getByRole('link', { name: 'Rows', exact: true }).click()
  await page.getByText('Lamp 6').waitFor()
  goOn.resolve()
  await comeBackOnline(page)
  assert.deepEqual(changes, ['POST /dashboard/api/sheets/lamps/console-key'])
  assert.equal(await readFile(path, 'utf8'), csv)
})

test('a question that was left open for long is not answered by the next sign-in', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, rowport } = await askToDisconnectLate(t)
  // The next morning, in another tab and for another reason.
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 12 * 3_600_000 }')
  const other = await page.context().newPage()
  await signInByLink(other, rowport, '/')
  await page.bringToFront()
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor({ state: 'hidden', timeout: 15_000 })
  await comeBackOnline(page)
  assert.equal(done(await rowport.workshop.sheets.find('acme', 'lamps')).slug, 'lamps')
})

test('who asks in the moment between a session and the next is still there, and what was asked goes on', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, rowport } = await askToDisconnectLate(t)
  // A sign-in in another tab ends the session of before, and the browser has the next one only when it is answered.
  const asked = Promise.withResolvers<void>()
  await page.route(
    '**/dashboard/api/session',
    async (route) => {
      await route.fulfill({
        status: 401,
        json: { error: { code: 'not_signed_in', message: 'Sign in first.' } },
      })
      asked.resolve()
    },
    { times: 1 },
  )
  await asked.promise
  const other = await page.context().newPage()
  await signInByLink(other, rowport, '/')
  await page.bringToFront()
  await page.waitForURL('**/sheets')
  await page.getByText('No sheets yet').waitFor()
})

test('without a network the page says so, and from when its data is', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, look } = await openSheet(t, 'settings')
  await page.getByText('Danger zone').waitFor()
  await page.context().setOffline(true)
  const bar = page.getByText('You’re offline. Showing data from')
  await bar.waitFor({ timeout: soonMs })
  await look('41-offline-bar')
  await page.getByRole('switch').click()
  assert.ok(await isToldSoon(page))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('status').getByText('wasn’t sent').waitFor()
  await comeBackOnline(page)
  await bar.waitFor({ state: 'hidden' })
})

test('a browser that believes to be offline asks a server on the same machine all the same', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page } = await openSheet(t, 'settings')
  await page.getByText('Danger zone').waitFor()
  await page.evaluate(`
    Object.defineProperty(navigator, 'onLine', { get: () => false })
    window.dispatchEvent(new Event('offline'))
  `)
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText('This month', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('Website')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByTestId('key-value').waitFor()
  assert.equal(await page.getByText('You’re offline').count(), 0)
})

interface OpenedSheet extends Pick<Looks, 'page' | 'look'> {
  rowport: Rowport
  /** Of the file with the rows. */
  path: string
  changes: string[]
}

/** Too long after signing in: the page asks who it is first. */
async function askToDisconnectLate(t: TestContext) {
  const opened = await openSheet(t, 'settings')
  const { page, rowport } = opened
  rowport.clock.advanceMs(16 * 60_000)
  await page.getByRole('button', { name: 'Disconnect this sheet' }).click()
  await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor()
  return opened
}

async function openSheet(t: TestContext, part: string): Promise<OpenedSheet> {
  const rowport = await startRowport(t, { settings })
  const { path } = await rowport.connectFile('lamps', 'lamps.csv', csv)
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, `/sheets/lamps/${part}`)
  await page.getByRole('heading', { name: 'lamps' }).waitFor()
  return { page, look, rowport, path, changes: watchChanges(page) }
}

function isToldSoon(page: Page): Promise<boolean> {
  return page
    .getByText('You’re offline. This wasn’t sent')
    .first()
    .waitFor({ timeout: soonMs })
    .then(
      () => true,
      () => false,
    )
}
