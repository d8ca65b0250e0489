import assert from 'node:assert/strict'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { StartView } from '../../src/dashboard/contract.ts'
import { bearer, configOf, done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage, watchChanges } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }
const focused = 'document.activeElement.tagName + " " + document.activeElement.textContent'

test('two hundred sheets: problems first and counted, one found by typing, what is shown stands in the URL', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const shares = { ...configOf('').shares, sheets: 300 }
  const rowport = await startRowport(t, { settings: { ...settings, shares } })
  const { baseUrl } = rowport.workshop
  for (let at = 1; at <= 200; at++) await rowport.connectFile(`bulk-${at}`, `bulk-${at}.csv`, 'a\n1\n')
  const { path, formA } = await rowport.connectFile('zebra', 'zebra.csv', 'name,name,,limit\nx,y,,1\n')
  const key = await rowport.createKey()
  await rm(path)
  assert.equal((await rowport.get(formA, bearer(key))).status, 502)
  const { page, look, load } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets')
  const names = () => page.getByRole('row').locator('td:first-child a').allInnerTexts()
  await page.getByRole('table').getByText('Unreadable').waitFor()
  assert.deepEqual((await names()).slice(0, 3), ['zebra', 'bulk-1', 'bulk-2'])
  await page.getByRole('navigation').getByText('1 need attention').waitFor({ state: 'attached' })
  await look('55-many-sheets')
  const thirdRow = 'document.querySelector("tbody tr:nth-child(3)").getBoundingClientRect().height'
  const compactPx = await page.evaluate<number>(thirdRow)
  await page.getByRole('button', { name: 'Use comfortable rows' }).click()
  await untilInPage(page, `${thirdRow} > ${compactPx}`)
  await page.reload()
  await page.getByRole('table').getByText('Unreadable').waitFor()
  // This browser remembers it.
  await untilInPage(page, `${thirdRow} > ${compactPx}`)
  await page.getByRole('button', { name: 'Use compact rows' }).click()
  await page.getByRole('button', { name: 'Use comfortable rows' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('bulk-20')
  await untilInPage(page, `document.querySelectorAll('tbody tr').length === 2`)
  assert.deepEqual(await names(), ['bulk-20', 'bulk-200'])
  await page.reload()
  await page.getByRole('link', { name: 'bulk-200' }).waitFor()
  assert.deepEqual(await names(), ['bulk-20', 'bulk-200'])
  await load(`${baseUrl}/sheets?show=attention`, 'zebra')
  assert.deepEqual(await names(), ['zebra'])
  // Whichever answer comes last, nothing on the home moves for it: `load` looks at that.
  for (const late of ['sheets', 'usage?*', 'start']) {
    const answer = `**/dashboard/api/${late}`
    await page.route(answer, async (route) => {
      await sleep(400)
      await route.continue()
    })
    await load(`${baseUrl}/`, '1 sheet needs attention')
    await page.unroute(answer)
  }
  await page.getByText('Requests today').waitFor()
  await look('56-home')
  await page.getByRole('link', { name: 'zebra' }).first().click()
  await page.getByText('Rowport can’t read this sheet').waitFor()
  await page.getByText('Your administrator connected zebra.csv and can restore it.').waitFor()
  assert.equal(
    await page.getByRole('link', { name: 'Upload the file again' }).count(),
    0,
    'it would not help',
  )
  await page.getByRole('button', { name: 'Python', exact: true }).waitFor()
  assert.equal(
    await page.getByRole('button', { name: 'TypeScript' }).count(),
    0,
    'no type of columns that nobody knows',
  )
  const [rows, columns] = await page.getByRole('definition').allInnerTexts()
  assert.deepEqual({ rows, columns }, { rows: '–', columns: '–' }, 'nobody knows how many')
  await page.getByText('Last fetched: –').waitFor()
  await look('57-unreadable', 'state')
  await page.getByRole('link', { name: 'Rows', exact: true }).click()
  await page.getByText('No rows to show right now.').waitFor()
  assert.equal(await page.getByText('the file is missing').count(), 1, 'the reason is told once')
})

test('the number of problems in the sidebar is that of the list and of the sheet beside it, at any moment', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const csv = 'name\nx\n'
  const { path, formA } = await rowport.connectFile('zebra', 'zebra.csv', csv)
  const key = await rowport.createKey()
  const read = async () => (await rowport.get(formA, bearer(key))).status
  assert.equal(await read(), 200)
  const { page } = await createLooks(t)
  const counted = page.getByRole('navigation', { name: 'Pages' }).getByText('need attention')
  await signInByLink(page, rowport, '/sheets')
  await page.getByRole('table').getByText('Live').waitFor()
  // Only the list can tell from here on.
  await page.route('**/dashboard/api/start', (route) => route.abort())
  await rm(path)
  rowport.clock.advanceMs(60_000)
  assert.equal(await read(), 502)
  await untilInPage(page, `document.querySelector('table').innerText.includes('Unreadable')`)
  assert.equal(await counted.count(), 1, 'as soon as the list shows it')
  await page.unroute('**/dashboard/api/start')

  await page.getByRole('link', { name: 'zebra' }).click()
  await page.getByText('Rowport can’t read this sheet').waitFor()
  const at = new Date(Date.now() - 3_600_000)
  await writeFile(path, csv)
  await utimes(path, at, at)
  rowport.clock.advanceMs(60_000)
  assert.equal(await read(), 200)
  await page.getByText('Rowport can’t read this sheet').waitFor({ state: 'detached' })
  await counted.waitFor({ state: 'detached', timeout: 5_000 })

  // A number that the list does not have yet makes it ask again. (Before the first request of a client, the number is asked for often.)
  await page.route('**/dashboard/api/start', async (route) => {
    const view = (await (await route.fetch()).json()) as StartView
    await route.fulfill({ json: { ...view, firstRequestAtMs: null, problems: 5 } })
  })
  await page.goto(`${rowport.workshop.baseUrl}/sheets`)
  await page.getByRole('table').getByText('Live').waitFor()
  const asked = { start: 0, sheets: 0 }
  page.on('response', (response) => {
    const name = new URL(response.url()).pathname.split('/').at(-1) ?? ''
    if (name in asked) asked[name as keyof typeof asked]++
  })
  while (asked.start < 5) await sleep(100)
  assert.ok(asked.sheets >= 4, `the list was asked for ${asked.sheets} times`)
})

test('any page and sheet is a few letters away, by keyboard alone', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  for (const slug of ['lamps', 'lanterns', 'prices'])
    await rowport.connectFile(slug, `${slug}.csv`, 'name\nx\n')
  await rowport.createKey()
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/usage')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.getByLabel('Time').selectOption('7')
  await page.getByLabel('Sheet', { exact: true }).selectOption('lanterns')
  await page.waitForURL(/\/usage\?days=7&sheet=lanterns$/)
  await page.reload()
  await page.getByRole('option', { name: 'lanterns' }).waitFor({ state: 'attached' })
  assert.equal(await page.getByLabel('Sheet', { exact: true }).inputValue(), 'lanterns')
  assert.equal(await page.getByLabel('Time').inputValue(), '7')
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Page, sheet or key' })
  await field.waitFor()
  await page.keyboard.type('la')
  await page.getByRole('option', { name: 'lanterns Sheet' }).waitFor()
  await look('70-go-to', 'state')
  await page.keyboard.press('ArrowDown')
  const chosen = page.getByRole('dialog').getByRole('option', { selected: true })
  assert.equal(await chosen.innerText().then((text) => text.split('\n')[0]), 'lanterns')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sheets/lanterns')
  // For those who do not see it.
  await page.locator('[aria-live=polite]').getByText('lanterns · Rowport').waitFor({ state: 'attached' })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('pri row')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sheets/prices/rows')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('test')
  await page.getByRole('option', { name: 'test API key' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/keys?q=test')
  await page.getByRole('button', { name: 'Revoke test' }).waitFor()
  await page.goBack()
  await page.waitForURL('**/sheets/prices/rows')
  await page.getByRole('button', { name: 'Go to…' }).click()
  await page.keyboard.type('nothing like it')
  await page.getByText('Nothing is called “nothing like it”.').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await page.waitForURL('**/sheets/prices/rows')
})

test('the settings of a sheet show a choice at once, keep what is typed, and rename', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets/lamps/settings')
  await page.getByText('Danger zone').waitFor()
  const goOn = Promise.withResolvers<void>()
  await page.route('**/dashboard/api/sheets/lamps', async (route) => {
    if (route.request().method() === 'PATCH') await goOn.promise
    await route.continue()
  })
  const refused = page.getByRole('radio', { name: /^Refused/ })
  await refused.click()
  assert.equal(await refused.isChecked(), true, 'before the server has answered')
  for (const save of await page.getByRole('button', { name: 'Save' }).all())
    assert.equal(await save.isDisabled(), false, 'they are of other sections')
  goOn.resolve()
  await page.getByText('Saved.').waitFor()
  await page.unrouteAll({ behavior: 'wait' })

  const seconds = page.getByLabel('Cache rows for (seconds)')
  await seconds.fill('33')
  done(await rowport.workshop.sheets.change('acme', 'lamps', { cacheSeconds: 44 }))
  await page.getByText('Changed elsewhere to 44').waitFor({ timeout: 15_000 })
  assert.equal(await seconds.inputValue(), '33', 'what is being typed stays')
  await look('58-changed-elsewhere', 'state')
  await page.getByRole('button', { name: 'Discard my changes' }).click()
  assert.equal(await seconds.inputValue(), '44')

  const name = page.getByLabel('URL name')
  await name.fill('Lamp Shop!')
  await page.getByText('Try "lamp-shop".').waitFor()
  await page.getByRole('button', { name: 'Use “lamp-shop”' }).click()
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await look('59-rename', 'state')
  await page.getByRole('button', { name: 'Rename sheet' }).click()
  await page.waitForURL('**/sheets/lamp-shop/settings')
  await page.getByRole('heading', { name: 'lamp-shop' }).waitFor()
  done(await rowport.workshop.sheets.change('acme', 'lamp-shop', { paused: true }))
  await page.getByText('This sheet is paused.').waitFor({ timeout: 15_000 })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('cell', { name: 'number' }).waitFor()
  await page.getByText('Anyone with a key.').waitFor()
  await page.getByRole('button', { name: 'Refresh now' }).click()
  await page.getByText('Rows refreshed.').waitFor()
})

test('keys: a snippet that works, names and dates that can be changed, a rotation that breaks nothing, and the focus', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { formA } = await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const old = await rowport.createKey()
  rowport.clock.advanceMs(100 * 24 * 60 * 60_000)
  const { page, look } = await createLooks(t)
  await page.clock.install({ time: rowport.clock.nowMs() })
  await signInByLink(page, rowport, '/keys')
  await page.getByText('1 key hasn’t been used for 90 days.').waitFor()
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  const read = async (value: string) => (await rowport.get(formA, bearer({ value }))).status
  await button('Create key').click()
  await page.getByLabel('Name').fill('Website')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByTestId('key-value')
  const first = await shown.innerText()
  await page.getByText(`Bearer ${first}`).waitFor()
  await button('Send test request').click()
  await page.getByText('It works: 200 OK').waitFor()
  await look('60-new-key-tried', 'state')
  await page.getByText('Use it with an agent').click()
  await page.getByText(`claude mcp add --transport http rowport`).waitFor()
  await page.getByText('An agent with this key can read rows of all sheets of this account').waitFor()
  await page.getByText('VS Code', { exact: true }).click()
  await page.getByText('.vscode/mcp.json').waitFor()
  await copyKeyAndClose(page)

  await button('Edit Website').click()
  await page.getByLabel('Name').fill('Shop window')
  await page.getByText('Read and write', { exact: true }).last().click()
  await page.getByLabel('Expires').fill('2027-12-31')
  await look('61-edit-key', 'state')
  await button('Save key').click()
  await page.getByText('Shop window saved.').waitFor()
  await page.getByText('Expires in').waitFor()
  assert.equal(await read(first), 200)
  await page
    .getByRole('row', { name: /^Shop window/ })
    .getByText('read and write')
    .waitFor()
  const written = await fetch(rowport.url + formA, {
    method: 'POST',
    headers: { Authorization: `Bearer ${first}` },
    body: '{"name":"Rug","price":2}',
  })
  assert.equal(written.status, 201, 'the key that was for reading writes')

  await button('Regenerate Shop window').click()
  await page.getByLabel('The old key stops working').selectOption('In an hour')
  await look('62-rotate', 'state')
  await button('Regenerate key').click()
  await shown.waitFor()
  const second = await shown.innerText()
  assert.deepEqual([await read(first), await read(second)], [200, 200], 'both work for the hour')
  rowport.clock.advanceMs(61 * 60_000)
  assert.deepEqual([await read(first), await read(second)], [403, 200])
  await copyKeyAndClose(page)

  await page.getByLabel('Find a key').fill('test')
  await button('Revoke test').waitFor()
  await button('Revoke Shop window').first().waitFor({ state: 'detached' })
  const changes = watchChanges(page)
  await page.getByLabel('Show').selectOption('unused')
  await button('Revoke these 1').click()
  await button('Revoke 1').click()
  await page.getByText('1 key revoked.').waitFor()
  assert.deepEqual(changes, [`POST /dashboard/api/keys/${old.id}/revoke`])
  await page.getByLabel('Show').selectOption('active')
  await page.getByLabel('Find a key').fill('')
  await button('Revoke Shop window').first().waitFor()
  const listed = 'document.querySelectorAll("tbody tr").length'
  const before = await page.evaluate<number>(listed)
  await button('Revoke Shop window').first().click()
  await button('Revoke key').click()
  await page.getByText('Key revoked.').waitFor()
  // The button that was pressed goes with its row.
  await untilInPage(page, `${listed} < ${before}`)
  await untilInPage(page, `!(${focused}).startsWith('BODY')`)
})

/** Whoever presses Escape before the key lies in the clipboard is asked first. */
async function copyKeyAndClose(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Copy key' }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByTestId('key-value').waitFor({ state: 'detached' })
}
