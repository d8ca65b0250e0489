import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }
const ada = { email: 'ada@example.com', password: 'correct horse battery', slug: 'ada' }

test('docs are read and copied by anybody, and after signing in with one’s own URLs, in the theme of the dashboard', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { baseUrl } = rowport.workshop
  const signedUp = await fetch(`${baseUrl}/dashboard/api/sign-up`, {
    method: 'POST',
    headers: { 'X-Rowport-Dashboard': '1', Origin: baseUrl, 'Content-Type': 'application/json' },
    body: JSON.stringify(ada),
  })
  assert.equal(signedUp.status, 200)
  for (const slug of ['chairs', 'lamps'])
    await rowport.connectFile(slug, `${slug}.csv`, 'name\nOak\n', { account: ada.slug })
  const { page, look, complaints } = await createLooks(t)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])

  await page.goto(`${baseUrl}/docs/recipes/nightly-sync`)
  await look('60-recipe')
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(copied, /^import \{ DatabaseSync \}.*\/api\/sheets\/demo\/products'.*\}$/s)

  // Narrow, the list of pages opens in its place.
  await page.setViewportSize({ width: 390, height: 900 })
  await page.getByText('All pages', { exact: true }).click()
  await page.getByRole('link', { name: 'The API', exact: true }).click()
  await page.getByRole('heading', { name: 'The API' }).waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
  const aside = page.getByRole('navigation', { name: 'Docs', exact: true })
  await aside.getByRole('link', { name: 'Reading', exact: true }).click()
  assert.match(page.url(), /\/docs\/api#reading$/)

  await page.goto(`${baseUrl}/docs/errors`)
  const isCode = await page
    .getByRole('cell', { name: /Any .*100-continue/ })
    .locator('code')
    .allInnerTexts()
  assert.deepEqual(isCode, ['Expect', '100-continue'], 'what is code is marked as code')
  await page.goBack()
  await page.getByRole('link', { name: 'Sign in' }).first().click()
  await page.getByRole('link', { name: 'Sign up' }).waitFor()
  assert.match(page.url(), /\/sign-in\?next=%2Fdocs%2Fapi$/)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('The examples use your own URLs.').waitFor()
  assert.match(page.url(), /\/docs\/api$/)
  const main = page.getByRole('main')
  await main.getByText('/api/sheets/ada/chairs').first().waitFor()
  await page.getByLabel('Sheet in the examples').selectOption('lamps')
  await main.getByText('/api/sheets/ada/lamps').first().waitFor()
  await aside.getByRole('link', { name: 'Python' }).click()
  await main.getByText('/api/sheets/ada/lamps').first().waitFor()

  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('button', { name: 'Theme: Auto' }).click()
  await page.getByRole('button', { name: 'Theme: Light' }).click()
  await page.getByRole('link', { name: 'Docs', exact: true }).click()
  await main.getByRole('heading', { name: 'Recipes' }).waitFor()
  const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  assert.equal(ground, 'rgb(17, 20, 19)')
  // Nobody was signed in: the answer to that question is a 401, which the browser calls an error.
  assert.deepEqual(
    complaints.filter((complaint) => !/401/.test(complaint)),
    [],
  )
})
