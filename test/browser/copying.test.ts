import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Rowport, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, type Looks, skip } from './looks.ts'

/** Plain HTTP by a name: browsers have no `navigator.clipboard` there. */
const settings = { baseUrl: 'http://rowport.lan:0' }
const noOldWay = 'document.execCommand = () => false'

test('the key that is shown once is copied on plain HTTP too, and is not closed unseen', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, look, complaints, rowport } = await open(t, '/keys')
  assert.equal(await page.evaluate('isSecureContext'), false)
  await createKey(page)
  const shown = page.getByTestId('key-value')
  const value = await shown.innerText()
  await page.getByRole('button', { name: 'Copy key' }).click()
  // It is said for a moment only, which a look at the clipboard may outlast.
  await page.getByText('Copied').waitFor()
  assert.deepEqual({ copied: await clipboard(page, rowport), complaints }, { copied: value, complaints: [] })
  await page.keyboard.press('Escape')
  await shown.waitFor({ state: 'hidden' })

  for (const name of ['Sheets', 'API keys'])
    await page.getByRole('navigation').getByRole('link', { name }).click()
  await createKey(page)
  const second = await shown.innerText()
  await page.keyboard.press('Escape')
  await page.getByText('You haven’t copied this key').waitFor()
  await look('42-close-uncopied', 'state')
  await page.getByRole('button', { name: 'Back to the key' }).click()
  await page.goBack()
  await page.getByText('You haven’t copied this key').waitFor()
  await page.getByRole('button', { name: 'Back to the key' }).click()
  await shown.click()
  assert.equal(await selected(page), second, 'one click selects all of it')
  await page.keyboard.press('Control+C')
  assert.equal(await clipboard(page, rowport), second)
  await page.getByRole('button', { name: 'Done' }).click()
  await shown.waitFor({ state: 'hidden' })

  await createKey(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Close without copying' }).click()
  await shown.waitFor({ state: 'hidden' })
  assert.deepEqual(complaints, [])
})

test('where nothing can copy, the text is selected and the page says which keys do', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, look, rowport, complaints } = await open(t, '/keys', noOldWay)
  await createKey(page)
  const value = await page.getByTestId('key-value').innerText()
  await page.getByRole('button', { name: 'Copy key' }).click()
  await page.getByText('Press Ctrl+C to copy it').waitFor()
  assert.equal(await selected(page), value)
  await look('43-press-to-copy', 'state')
  await page.getByRole('button', { name: 'Copy key' }).click()
  await page.keyboard.press('Control+C')
  await page.getByText('Copied').waitFor()
  assert.equal(await clipboard(page, rowport), value)
  await page.keyboard.press('Escape')

  for (const name of ['Sheets', 'lamps']) await page.getByRole('link', { name, exact: true }).click()
  for (const name of ['Copy URL by name', 'Copy']) {
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByText('Press Ctrl+C to copy it').waitFor()
    assert.match(await selected(page), /rowport\.lan:\d+\/api\/sheets\/acme\/lamps/)
    await page.keyboard.press('Control+C')
    await page.getByText('Press Ctrl+C to copy it').waitFor({ state: 'hidden' })
    assert.equal(await clipboard(page, rowport), await selected(page))
  }
  assert.deepEqual(complaints, [])
})

test('a browser that forbids the clipboard is asked the older way', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const forbidden = `Object.defineProperty(navigator, 'clipboard', {
    value: { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) },
  })`
  const { page, rowport } = await open(t, '/sheets/lamps', forbidden)
  await page.getByRole('button', { name: 'Copy URL by ID' }).click()
  await page.getByText('Copied').waitFor()
  assert.match(await clipboard(page, rowport), /\/v1\/sheets\/\w+$/)
})

async function open(t: TestContext, path: string, script = ''): Promise<Looks & { rowport: Rowport }> {
  const rowport = await startRowport(t, { settings })
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const looks = await createLooks(t)
  await looks.page.addInitScript(script)
  await signInByLink(looks.page, rowport, path)
  // Before the sign-in, the answer to who is signed in is a 401, which the browser calls an error.
  looks.complaints.splice(0)
  return { ...looks, rowport }
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('Website')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByTestId('key-value').waitFor()
}

async function selected(page: Page): Promise<string> {
  return page.evaluate<string>('String(getSelection())')
}

/** Read where it may be read: by loopback's own name, in another tab. */
async function clipboard(page: Page, { url }: Rowport): Promise<string> {
  const context = page.context()
  await context.grantPermissions(['clipboard-read'], { origin: url })
  const tab = await context.newPage()
  await tab.goto(`${url}/healthz`)
  const text = await tab.evaluate<string>('navigator.clipboard.readText()')
  await tab.close()
  await page.bringToFront()
  return text
}
