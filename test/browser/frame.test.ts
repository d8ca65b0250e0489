import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage } from './at-the-dashboard.ts'
import { createLooks, skip, tabTo } from './looks.ts'

/** Plain HTTP by a name: browsers send no `Sec-Fetch-Site` there. */
const settings = { baseUrl: 'http://rowport.lan:0' }
const focused = 'document.activeElement.tagName + " " + document.activeElement.textContent'

test('the frame stays when the code of a page does not arrive, says when it is slow, and keeps the focus', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { baseUrl } = rowport.workshop
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const { page, look } = await createLooks(t)
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  await page.route('**/assets/account-pages*', (route) => route.abort())
  await page.route('**/assets/sheet-pages*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await route.continue()
  })
  await signInByLink(page, rowport, '/sheets')
  await link('lamps').waitFor()
  await link('lamps').click()
  await page.locator('.on-its-way').waitFor({ state: 'attached', timeout: 600 })
  await page.getByRole('main').getByRole('status', { name: 'Loading' }).waitFor({ timeout: 600 })
  await page.getByRole('heading', { name: 'lamps', exact: true }).waitFor()
  await page.locator('.on-its-way').waitFor({ state: 'detached' })

  await link('Usage').click()
  await page.getByText('This page couldn’t be loaded.').waitFor()
  await link('Sheets').waitFor()
  await look('48-page-not-loaded', 'state')
  await page.unroute('**/assets/account-pages*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This month', { exact: true }).waitFor()

  await link('Sheets').click()
  await link('lamps').waitFor()
  await tabTo(page, /^lamps$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'lamps' }).waitFor()
  await untilInPage(page, `${focused} === 'H1 lamps'`)
  assert.equal(await page.title(), 'lamps · Rowport')
  await link('Rows').click()
  await page.getByText('Lamp', { exact: true }).waitFor()
  assert.equal(await page.title(), 'Rows · lamps · Rowport')

  const nowhere = await page.goto(`${baseUrl}/nothing/here`)
  assert.equal(nowhere?.status(), 404)
  await page.getByText('Page not found').last().waitFor()
  await look('49-not-found', 'state')
  assert.equal(
    (await rowport.get('/nothing/here')).headers.get('content-type'),
    'application/json; charset=utf-8',
  )
  const described = await page.goto(`${baseUrl}/openapi.json`)
  assert.match(described?.headers()['content-type'] ?? '', /json/)

  // By another name than the one that the server was told.
  await page.goto(`${baseUrl.replace('rowport.lan', 'elsewhere.lan')}/sign-in`)
  await page.getByLabel(/^E-?mail$/i).fill('a@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(`Open the dashboard at ${baseUrl}.`).waitFor()
})

test('another theme is there at once, from the first word of a page to the last, also for who wants no motion', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const { page } = await createLooks(t)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await signInByLink(page, rowport, '/sheets/lamps/rows')
  await page.getByText('Lamp', { exact: true }).waitFor()
  const inked =
    await page.evaluate<number>(`window.ofText = (color) => [...document.querySelectorAll('body *')]
    .filter((element) => getComputedStyle(element).color === color).length
    ofText(getComputedStyle(document.documentElement).color)`)
  assert.ok(inked > 20, `${inked} elements with the colour of text`)
  const late = await page.evaluate<number[]>(`(async () => {
    const light = getComputedStyle(document.documentElement).color
    document.documentElement.dataset.theme = 'dark'
    const late = []
    for (let frame = 0; frame < 3; frame++) {
      late.push(ofText(light))
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
    return late
  })()`)
  assert.deepEqual(late, [0, 0, 0], 'still in the colour of the other theme, frame by frame')
})

test('all JavaScript together is under 160 KB as Chromium gets it, and what a first page needs is under 140 KB', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { workshop } = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  const { page } = await createLooks(t)
  await page.goto(`${workshop.baseUrl}/sign-in`)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  const firstBytes = await page.evaluate<number>(sentBytesOfScripts)
  for (const name of await readdir('web/dist/assets'))
    if (name.endsWith('.js')) await page.evaluate(`import('/assets/${name}').then(() => true)`)
  const allBytes = await page.evaluate<number>(sentBytesOfScripts)
  t.diagnostic(`JavaScript: first page ${firstBytes} bytes, all pages ${allBytes} bytes`)
  assert.ok(firstBytes > 50_000 && firstBytes < 140_000, `the first page needs ${firstBytes} bytes`)
  assert.ok(allBytes > firstBytes && allBytes < 160_000, `all pages together need ${allBytes} bytes`)
})

/** As they came over the wire, in whatever coding the server chose for this browser. */
const sentBytesOfScripts = `performance.getEntriesByType('resource')
  .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

test('what a page shows came to Chromium compressed', { skip, timeout: patienceMs }, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  for (let at = 0; at < 20; at++) await rowport.connectFile(`lamps-${at}`, `lamps-${at}.csv`, 'name\nLamp\n')
  const rows = Array.from({ length: 200 }, (_, at) => `lamp ${at},${at}\n`)
  await rowport.connectFile('lamps', 'lamps.csv', `name,price\n${rows.join('')}`)
  const { page } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets')
  await page.getByRole('link', { name: 'lamps', exact: true }).click()
  await page.getByRole('link', { name: 'Rows', exact: true }).click()
  await page.getByText('1–50 of 200').waitFor()
  for (const path of ['/sheets', '/sheets/lamps/rows']) {
    const [sentBytes = 0, shownBytes = 0] = await page.evaluate<
      number[]
    >(`performance.getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname === '/dashboard/api${path}')
      .flatMap(({ encodedBodySize, decodedBodySize }) => [encodedBodySize, decodedBodySize])`)
    assert.ok(sentBytes > 100 && sentBytes * 3 < shownBytes, `${path}: ${sentBytes} bytes for ${shownBytes}`)
  }
})

test('what the pages read is sent compressed', async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  const rows = Array.from({ length: 200 }, (_, at) => `lamp ${at},${at}\n`)
  await rowport.connectFile('lamps', 'lamps.csv', `name,price\n${rows.join('')}`)
  const { sessionId } = await rowport.workshop.signIn
    .createLink('acme')
    .then((link) => rowport.workshop.signIn.follow((link as { token: string }).token, null))
    .then((id) => ({ sessionId: String(id) }))
  for (let at = 0; at < 4; at++) await rowport.connectFile(`lamps-${at}`, `lamps-${at}.csv`, 'name\nLamp\n')
  for (const path of ['sheets/lamps/rows?limit=200', 'sheets/lamps/rows?limit=100', 'sheets']) {
    const response = await rowport.get(`/dashboard/api/${path}`, {
      Cookie: `rowport=${sessionId}`,
      'Accept-Encoding': 'gzip',
    })
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-encoding'), 'gzip', path)
    assert.ok(JSON.stringify(await response.json()).length > 1_024, path)
  }
})
