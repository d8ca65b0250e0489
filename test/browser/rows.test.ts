import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, watchChanges } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }
const long = 'word '.repeat(400)
const wide = 'what we call this column '.repeat(8).trim()

test('rows are found by a URL that can be sent, read whole, changed with Undo, added and exported', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const lines = Array.from({ length: 120 }, (_, at) => `lamp ${at},${at},2026-11-${10 + (at % 20)}`)
  const { path } = await rowport.connectFile(
    'lamps',
    'lamps.csv',
    `name,price,added,${wide}\n${long},1,2026-11-01,x\n${lines.join('\n')}\n`,
  )
  const { page, look, complaints } = await createLooks(t)
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  await signInByLink(page, rowport, '/sheets/lamps/rows')
  await page.getByText('1–50 of 121').waitFor()
  complaints.splice(0)

  await button('Next').click()
  await page.getByText('51–100 of 121').waitFor()
  assert.match(page.url(), /page=2/)
  await page.reload()
  await page.getByText('51–100 of 121').waitFor()
  await page.goBack()
  await page.getByText('1–50 of 121').waitFor()
  await page.getByLabel('Filter by').selectOption('price')
  await page.getByLabel('Condition').selectOption('gte')
  await page.getByLabel('Value').fill('abc')
  const hopeless = page.getByText('“price” holds numbers, so “abc” won’t match any row.')
  await hopeless.waitFor()
  await button('Add filter').click()
  await page.getByText('No rows match.').waitFor()
  assert.equal(await hopeless.count(), 1, 'why is still said where the filter stands')
  await page.reload()
  await hopeless.waitFor()
  assert.equal(await page.getByText('0–0').count(), 0)
  assert.equal(await button('Next').count(), 0, 'there is nothing to page through')
  await look('50-no-rows-match', 'state')
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click()
  await hopeless.waitFor({ state: 'detached' })
  await page.getByLabel('Filter by').selectOption('price')
  await page.getByLabel('Condition').selectOption('eq')
  await page.getByLabel('Value').fill('abc')
  await hopeless.waitFor()
  for (const [condition, value, found] of [
    ['is one of', '1,7', '1–3 of 3'],
    ['ends with', '19', '1–2 of 2'],
  ] as const) {
    await page.getByLabel('Condition').selectOption({ label: condition })
    await page.getByLabel(/^Values?(?:, comma-separated)?$/).fill(value)
    await button('Add filter').click()
    await page.getByText(found).waitFor()
    await hopeless.waitFor({ state: 'detached' })
    await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click()
  }
  await page.getByLabel('Condition').selectOption({ label: 'is empty' })
  await button('Add filter').click()
  await page.getByText('No rows match.').waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click()
  // What is shown is of before, and says so, until the answer is there.
  const isAsked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  await page.route('**/dashboard/api/sheets/lamps/rows?*q=lamp*', async (route) => {
    isAsked.resolve()
    await goOn.promise
    await route.continue().catch(() => {})
  })
  await page.getByLabel('Search').fill('lamp 11')
  await isAsked.promise
  await page.getByText('Searching…').waitFor()
  await page.locator('[aria-busy=true]').getByRole('table').waitFor()
  goOn.resolve()
  await page.getByText('1–11 of 11').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()
  await page.getByText('1–11 of 11').waitFor()
  assert.equal(await page.getByLabel('Search').inputValue(), 'lamp 11')
  const [download] = await Promise.all([page.waitForEvent('download'), button('Export CSV').click()])
  assert.equal((await readFile(await download.path(), 'utf8')).trim().split('\n').length, 12)
  await page.getByLabel('Search').fill('')
  await page.getByText('1–50 of 121').waitFor()

  assert.deepEqual(await page.evaluate(tableLooks), {
    head: 'sticky',
    rowNumber: 'sticky',
    numbers: 'right',
    isWideNameCut: true,
    isTableAsWideAsThePage: true,
  })
  await page.getByRole('button', { name: 'Use comfortable rows' }).click()
  await page.getByRole('button', { name: 'Use compact rows' }).click()
  await button('Open row 2').click()
  const panel = page.getByRole('dialog')
  await panel.getByText(long.trim()).waitFor()
  assert.match(page.url(), /row=2/)
  await look('51-row', 'state')
  const changes = watchChanges(page)
  await panel.getByRole('button', { name: 'Edit' }).click()
  await panel.getByLabel('name').fill('Oak table')
  await panel.getByLabel('price').fill('420')
  await look('52-edit-row', 'state')
  await panel.getByRole('button', { name: 'Save row' }).click()
  await page.getByText('Row 2 saved.').waitFor()
  assert.match(await readFile(path, 'utf8'), /^name,price,added,.*\r?\nOak table,420,2026-11-01/)
  await panel.getByText('Oak table').waitFor()
  await panel.getByRole('button', { name: 'Close' }).click()
  await button('Undo').click()
  await page.getByText('Row 2 is as it was.').waitFor()
  assert.ok((await readFile(path, 'utf8')).includes(`${long.trim()}`))
  assert.deepEqual(new Set(changes), new Set(['PUT /api/sheets/acme/lamps/2']))

  // Somebody else changes the row while it is open.
  await button('Open row 3').click()
  await panel.getByText('lamp 0', { exact: true }).waitFor()
  await panel.getByRole('button', { name: 'Edit' }).click()
  await panel.getByLabel('name').fill('mine')
  const key = await rowport.createKey()
  const theirs = await fetch(`${rowport.url}/api/sheets/acme/lamps/3`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${key.value}` },
    body: '{"name":"theirs"}',
  })
  assert.equal(theirs.status, 200)
  await panel.getByRole('button', { name: 'Save row' }).click()
  await panel.getByText('The row has changed since you opened it.').waitFor()
  await panel.getByRole('button', { name: 'Reload row' }).click()
  await panel.getByText('theirs').waitFor()
  await panel.getByRole('button', { name: 'Delete', exact: true }).click()
  await panel.getByRole('button', { name: 'Delete row 3' }).click()
  await page.getByText('Row 3 deleted.').waitFor()
  await page.getByText('1–50 of 120').waitFor()
  await button('Undo').click()
  await page.getByText('The row is back').waitFor()
  assert.match(await readFile(path, 'utf8'), /theirs,0,2026-11-10,\s*$/)

  await button('Add row').click()
  await page.getByRole('dialog').getByLabel('name').fill('Rug')
  await page.getByRole('dialog').getByLabel('price').fill('35')
  await look('53-add-row', 'state')
  await button('Add row to spreadsheet').click()
  await page.getByText('Row added').waitFor()
  assert.match(await readFile(path, 'utf8'), /Rug,35,,\s*$/)
  assert.deepEqual(
    complaints.filter((complaint) => !/status of 412/.test(complaint)),
    [],
  )
})

/** The names of columns stay in sight, and none of them makes its column as wide as itself. */
const tableLooks = `(() => {
  const [, , price, , wide] = document.querySelectorAll('thead th')
  const [number, , priceCell] = document.querySelectorAll('tbody tr td')
  return {
    head: getComputedStyle(price).position,
    rowNumber: getComputedStyle(number).position,
    numbers: getComputedStyle(priceCell).textAlign,
    isWideNameCut: wide.scrollWidth > wide.clientWidth && wide.title.length > 100,
    isTableAsWideAsThePage: document.querySelector('main table').clientWidth > innerWidth - 320,
  }
})()`

const consoleLooks = `(() => {
  const [, findBy, row] = [...document.querySelectorAll('main form select, main form input')].map((field) => field.getBoundingClientRect())
  const code = document.querySelector('details[open] pre').parentElement
  return {
    isRowBesideFindBy: findBy.top === row.top && findBy.right < row.left,
    isCodeWhole: code.clientWidth > code.parentElement.clientWidth - 20,
  }
})()`

test('the console sends what is on the screen, with bodies that fit, beside a console in another tab', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { path } = await rowport.connectFile('lamps', 'lamps.csv', 'name,price,added\nLamp,1,2026-11-01\n')
  const { page, look } = await createLooks(t)
  // As of a spreadsheet that the server has not read yet when the page opens.
  await page.route(
    '**/dashboard/api/sheets/lamps',
    async (route) => {
      const response = await route.fetch()
      await route.fulfill({
        response,
        json: { ...(await response.json()), columns: [], rowCount: null, fetchedAtMs: null },
      })
    },
    { times: 1 },
  )
  await signInByLink(page, rowport, '/sheets/lamps/console')
  const send = async (one: typeof page) => {
    await one.getByRole('button', { name: 'Send', exact: true }).click()
    await one.getByText('200 OK').waitFor()
  }
  await page.getByLabel('Query').fill('limit=1')
  await send(page)
  const other = await page.context().newPage()
  await other.goto(page.url())
  await send(other)
  await page.bringToFront()
  await page.getByLabel('Query').fill('limit=2')
  await page.getByText('The request has changed since this was sent.').waitFor()
  await send(page)
  await page.getByText('Sent: GET /api/sheets/acme/lamps?limit=2').waitFor()

  // What filters a list is nothing for a write, where it may mean that all of those rows are changed.
  for (const method of ['DELETE', 'PUT', 'PATCH', 'POST']) {
    await page.getByLabel('Method').selectOption('GET')
    await page.getByLabel('Query').fill('price[gte]=1')
    await page.getByLabel('Method').selectOption(method)
    assert.equal(await page.getByLabel('Query').inputValue(), '', method)
    await page.getByText(`${method} /api/sheets/acme/lamps`, { exact: true }).waitFor()
  }
  const writes: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes('/api/sheets/acme')) writes.push(request.url())
  })
  while (!(await page.locator('textarea').inputValue()).includes('name')) await page.waitForTimeout(50)
  assert.deepEqual(JSON.parse(await page.locator('textarea').inputValue()), {
    name: 'Lamp',
    price: 1,
    added: '2026-11-01',
  })
  await look('54-console-post', 'state')
  await page.getByRole('button', { name: 'Add row to spreadsheet' }).click()
  await page.getByText('201 Created').waitFor()
  assert.deepEqual(writes, [`${rowport.workshop.baseUrl}/api/sheets/acme/lamps`])
  assert.equal(await readFile(path, 'utf8'), 'name,price,added\nLamp,1,2026-11-01\nLamp,1,2026-11-01\n')
  await page.getByText('Code for this request').click()
  const code = page.locator('details[open] pre')
  assert.match(await code.innerText(), /^curl .*\/api\/sheets\/acme\/lamps'.*"added": "2026-11-01"/s)
  for (const [language, start] of [
    ['fetch', /^const response = await fetch\(/],
    ['Python', /^import os, uuid, requests/],
  ] as const) {
    await page.getByRole('button', { name: language, exact: true }).click()
    assert.match(await code.innerText(), start)
  }
  assert.doesNotMatch(await page.locator('main').innerText(), /sk_live_/, 'the key is nobody’s to copy')
  await look('54-console-code', 'state')
  // Beside each other or not, how a row is found and which one belong together; and code has all of its box.
  for (const width of [380, 700, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    assert.deepEqual(
      await page.evaluate(consoleLooks),
      { isRowBesideFindBy: true, isCodeWhole: true },
      `${width} px`,
    )
  }
  await page.getByLabel('Method').selectOption('DELETE')
  await page.getByLabel('Row', { exact: true }).fill('3')
  await page.getByRole('button', { name: 'Delete row 3' }).waitFor()
  const changes = watchChanges(page)
  await page.getByText('History (3)').click()
  await page.getByRole('button', { name: /GET.*limit=1$/ }).click()
  assert.equal(await page.getByLabel('Query').inputValue(), 'limit=1')
  assert.deepEqual(changes, [], 'choosing from the history sends nothing')

  // What the owner tries out is told as that, and is no client's first request.
  await page.getByRole('link', { name: 'Usage', exact: true }).click()
  await page.getByRole('cell', { name: 'Console (lamps)', exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await page.getByRole('heading', { name: 'Send your first request' }).waitFor()
})
