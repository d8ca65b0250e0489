import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ada, items, startTogether } from '../connect/with-google.ts'
import { done } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { createLooks, type Looks, newProfile, skip, tabTo } from './looks.ts'
import { addPastUsage } from './past-usage.ts'
// In the same process and browser, whose start costs as much as a test.
import './states.ts'

const maxFirstLoadBytes = 200 * 1024

/** Every page, and what is on it once it is all there. */
const pagesWithRows: readonly [path: string, isThere: string | RegExp][] = [
  ['/', 'Requests today'],
  ['/sheets', 'Lamp shop'],
  ['/connect', 'Lamp shop'],
  ['/sheets/lamps', 'Code examples'],
  ['/sheets/lamps/console', 'Send a request to see'],
  ['/sheets/lamps/rows', 'Floor lamp'],
  ['/sheets/lamps/requests', 'Show exact times'],
  ['/sheets/lamps/settings', 'Danger zone'],
  ['/docs', 'The examples use your own URLs.'],
  ['/keys', 'Website'],
  ['/usage', 'Rate-limited'],
  ['/settings', ada],
]

test('an owner in a real browser: from signing up to rows, a write, a pause, a revoked key, and back after access has ended', {
  skip,
  // Half a minute when the machine is free: most of it goes into pictures, and it grows with whatever else runs.
  timeout: patienceMs,
}, async (t) => {
  const { rowport, google, createSpreadsheet } = await startTogether(t, { signUpPlan: 'pro' })
  await createSpreadsheet('Lamp shop', {
    tabs: [
      { title: 'Products', values: items },
      { title: 'Orders', values: [['number'], [1001]] },
    ],
  })
  const { page, look, load, complaints } = await createLooks(t)
  const { baseUrl } = rowport.workshop
  let scriptBytes = 0
  page.on('response', (response) => {
    if (/\.js$/.test(new URL(response.url()).pathname))
      scriptBytes += Number(response.headers()['content-length'] ?? 0)
  })
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  const link = (name: string) => page.getByRole('link', { name, exact: true })

  await load(`${baseUrl}/keys`, 'Forgot your password?')
  assert.equal(new URL(page.url()).search, '?next=%2Fkeys')
  assert.ok(
    scriptBytes > 0 && scriptBytes <= maxFirstLoadBytes,
    `${scriptBytes} bytes of JavaScript at first`,
  )
  await look('01-sign-in')
  // Nobody is signed in: the answer to that question is a 401, which the browser calls an error.
  assert.match(complaints.splice(0).join(), /401/)

  await link('Sign up').click()
  await page.getByLabel('Email').fill('owner@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  assert.equal(await page.getByLabel('Account URL name').inputValue(), 'owner')
  await look('02-sign-up')
  await button('Create account').click()
  await page.getByRole('heading', { name: 'Welcome, owner' }).waitFor()
  await look('03-start')

  await link('Connect Google').click()
  await button('Connect Google').waitFor()
  await look('04-connect')
  await button('Connect Google').click()
  await page.getByText('wants access to your Google Account').waitFor()
  await page.getByText(ada, { exact: true }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/connect?google=connected*')
  await button(/Lamp shop/).waitFor()
  await look('23-spreadsheets', 'state')
  await button(/Lamp shop/).click()
  await look('05-tabs', 'state')
  await button(/Products/).click()
  await page.getByText('Oak table').waitFor()
  await look('06-preview', 'state')
  await page.getByLabel('URL name').fill('Lamps!')
  await page.getByText('Try "lamps"').waitFor()
  await page.getByLabel('URL name').fill('lamps')
  await button('Connect this sheet').click()
  await page.waitForURL('**/sheets/lamps')
  await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
  await look('07-sheet')

  await link('API keys').click()
  await button('Create key').waitFor()
  await look('08-no-keys', 'state')
  const apiKey = await makeKeyByKeyboard(page, look)
  const address = `${rowport.url}/api/sheets/owner/lamps`
  const ask = (method = 'GET', body?: string) =>
    fetch(address, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Cache-Control': 'no-cache' },
      ...(body === undefined ? {} : { body }),
    })
  const read = await ask()
  assert.equal(read.status, 200)
  assert.equal(((await read.json()) as { name: string }[])[0]?.name, 'Oak table')
  assert.equal((await ask('POST', '{"name":"Floor lamp","price":89}')).status, 201)
  await addPastUsage(rowport, 'owner', 'lamps')

  await link('Sheets').click()
  await link('lamps').click()
  await link('Rows').click()
  await page.getByText('Floor lamp').waitFor()
  await look('11-rows')
  await link('Console').click()
  await button('Send').click()
  await page.getByText('200 OK').waitFor()
  await look('12-console')
  const asked = (method: string, rest: string) =>
    page.locator('form').getByText(`${method} /api/sheets/owner/lamps${rest}`, { exact: true }).waitFor()
  await asked('GET', '?limit=10')
  await page.getByLabel('Row', { exact: true }).fill('2')
  await asked('GET', '/2')
  await page.getByLabel('Method').selectOption('POST')
  await asked('POST', '')
  await page.getByLabel('Method').selectOption('GET')
  await page.getByLabel('Row', { exact: true }).fill('')
  await page.getByLabel('Query').fill('?fields=name')
  await asked('GET', '?fields=name')
  await link('Requests').click()
  await page.getByText('Console', { exact: true }).last().waitFor()
  await look('13-requests')
  await page.getByRole('navigation', { name: 'Parts of this sheet' }).getByText('Settings').click()
  await page.getByRole('switch').click()
  await page.getByText('Paused', { exact: true }).first().waitFor()
  assert.equal((await ask()).status, 503)
  await look('14-paused')
  await page.getByRole('switch').click()
  await page.getByText('Serving requests').waitFor()
  await button('Dismiss').click()
  assert.equal((await ask()).status, 200)

  await link('Usage').click()
  await page.getByText('This month', { exact: true }).waitFor()
  const axes = await page.locator('figure span:visible').allInnerTexts()
  for (const mark of ['0', '200', '400', '600', 'Oct 20', 'Nov 13']) assert.ok(axes.includes(mark), mark)
  await look('15-usage')
  await link('Docs').click()
  await page.getByText('/api/sheets/owner/lamps').first().waitFor()
  await look('16-docs')
  await link('Dashboard').click()
  await link('API keys').click()
  await page.getByText('Website').first().waitFor()
  await look('10-keys')
  await link('Home').click()
  await page.getByText('Requests today').waitFor()
  await look('22-all-done', 'state')

  // Narrow, where everything lies below everything else and would be pushed down.
  await page.setViewportSize({ width: 380, height: 900 })
  for (const [path, isThere] of pagesWithRows) await load(baseUrl + path, isThere)
  await page.setViewportSize({ width: 1440, height: 900 })

  await google.control('POST', `grants/${ada}/revoke`, {})
  assert.equal((await ask()).status, 503)
  await page.getByRole('navigation', { name: 'Pages' }).getByText('Sheets').click()
  await page.getByRole('table').getByText('Reconnect needed').waitFor()
  await look('17-needs-reconnect')
  await link('Reconnect Google').click()
  await button('Reconnect').waitFor()
  await look('18-settings')
  await button('Reconnect').click()
  await page.getByText(ada, { exact: true }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/settings?google=reconnected*')
  await page.getByText('Google is connected again').waitFor()
  assert.equal((await ask()).status, 200, 'the same address, the same key')

  await page.getByRole('navigation', { name: 'Pages' }).getByText('API keys').click()
  rowport.clock.advanceMs(16 * 60_000)
  await regenerateByKeyboard(page, look)
  // The sign-in that was too old, and the wrong password.
  assert.match(complaints.splice(0).join(), /^[^,]*403[^,]*,[^,]*400[^,]*$/)
  assert.equal((await ask()).status, 403)
  rowport.clock.advanceMs(16 * 60_000)
  await revokeByKeyboard(page, look)
  await button('Sign out').click()
  await page.waitForURL('**/sign-in')
  assert.deepEqual(complaints, [], 'no violation of the content policy, and nothing else')
})

/** Tab, Enter, arrows and typing. */
async function makeKeyByKeyboard(page: Page, look: Looks['look']): Promise<string> {
  await tabTo(page, /^Create key$/)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('Website')
  await tabTo(page, /^scope$/)
  await page.keyboard.press('ArrowDown')
  await look('20-create-key', 'state')
  await tabTo(page, /^Create key$/)
  await page.keyboard.press('Enter')
  const shown = page.getByTestId('key-value')
  await shown.waitFor()
  const value = await shown.innerText()
  assert.match(value, /^sk_live_\w{32}$/)
  await look('09-new-key', 'state')
  await tabTo(page, /^Copy key$/)
  await page.keyboard.press('Enter')
  await page.getByText('Copied').waitFor()
  await tabTo(page, /^Done$/)
  await page.keyboard.press('Enter')
  await shown.waitFor({ state: 'hidden' })
  return value
}

/** The sign-in is a while ago: the password is asked for in between, and then it is done without asking again. */
async function regenerateByKeyboard(page: Page, look: Looks['look']): Promise<void> {
  await tabTo(page, /^Regenerate Website$/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Regenerate key$/)
  await page.keyboard.press('Enter')
  const password = page.getByLabel('Password for owner@example.com')
  await password.waitFor()
  await page.keyboard.type('not my password')
  await page.keyboard.press('Enter')
  await page.getByText('Incorrect password.').waitFor()
  await look('21-confirm', 'state')
  await password.fill('')
  await page.keyboard.type('correct horse battery')
  await page.keyboard.press('Enter')
  const shown = page.getByTestId('key-value')
  await shown.waitFor()
  await tabTo(page, /^Copy key$/)
  await page.keyboard.press('Enter')
  await page.getByText('Copied').waitFor()
  await tabTo(page, /^Done$/)
  await page.keyboard.press('Enter')
  await shown.waitFor({ state: 'hidden' })
}

/** The sign-in is a while ago, and that does not matter: it only takes access away. */
async function revokeByKeyboard(page: Page, look: Looks['look']): Promise<void> {
  await tabTo(page, /^Revoke Website$/)
  await page.keyboard.press('Enter')
  await look('19-revoke', 'state')
  await tabTo(page, /^Revoke key$/)
  await page.keyboard.press('Enter')
  await page.getByText('Key revoked.').waitFor()
}

test('a page of another site can do nothing in an owner’s name', { skip }, async (t) => {
  const { rowport } = await startTogether(t)
  const { baseUrl } = rowport.workshop
  const page = await (await newProfile(t)).newPage()
  const { token } = done(await rowport.workshop.signIn.createLink('acme'))
  await page.goto(`${baseUrl}/sign-in-link?token=${token}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Welcome, acme' }).waitFor()

  // Another host of the same machine.
  await page.goto(`${baseUrl.replace('127.0.0.1', 'localhost')}/healthz`)
  const outcomes = await page.evaluate(async (target) => {
    const ask = (init: RequestInit) =>
      fetch(`${target}/dashboard/api/sign-out-everywhere`, {
        method: 'POST',
        credentials: 'include',
        ...init,
      }).then(
        ({ status, type }) => (type === 'opaque' ? 'unread' : String(status)),
        () => 'refused',
      )
    return [
      await ask({ headers: { 'X-Rowport-Dashboard': '1' } }),
      await ask({ mode: 'no-cors' }),
      await fetch(`${target}/dashboard/api/export`, { credentials: 'include' }).then(
        ({ status }) => String(status),
        () => 'refused',
      ),
    ]
  }, baseUrl)
  assert.deepEqual(outcomes, ['refused', 'refused', 'refused'])
  await page.setContent(
    `<form method="post" action="${baseUrl}/dashboard/api/sign-out"><button>go</button></form>`,
  )
  await page.getByRole('button').click()
  await page.getByText('another_site').waitFor()
  await page.goto(`${baseUrl}/`)
  await page.getByRole('heading', { name: 'Welcome, acme' }).waitFor()
})
