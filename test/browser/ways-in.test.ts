import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTogether } from '../connect/with-google.ts'
import { done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('each step of connecting has a URL; the preview says what it changed', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { rowport, google, createSpreadsheet } = await startTogether(t, { signUpPlan: 'pro' })
  const tabs = [
    {
      title: 'Products',
      values: [
        ['name', 'name', '', 'limit'],
        ['Lamp', 'x', '', 1],
      ],
    },
    { title: 'Orders', values: [['number'], [1]] },
  ]
  await createSpreadsheet('Lamp shop', { tabs })
  await google.control('POST', 'settings', { autoConsent: { user: 'ada@example.com' } })
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/connect?source=google')
  await page.getByRole('button', { name: 'Connect Google' }).click()
  await page.getByRole('button', { name: /Lamp shop/ }).click()
  await page.getByRole('heading', { name: /Choose a tab/ }).waitFor()
  await untilInPage(page, 'document.activeElement.tagName !== "BODY"')
  assert.equal(await page.getByText(/\d+ × \d+/).count(), 0, 'the size of the grid is not that of the data')
  await page.getByRole('button', { name: 'Products' }).click()
  await page.getByText('3 columns, 1 row.').waitFor()
  await page.getByText('Column C has no header and isn’t served.').waitFor()
  await page.getByText('A repeated header “name” is served as “name_2”.').waitFor()
  await look('63-preview-notes', 'state')
  await page.getByRole('button', { name: 'Table', exact: true }).click()
  await page.getByRole('columnheader', { name: 'name_2' }).waitFor()
  await page.getByRole('cell', { name: 'Lamp', exact: true }).waitFor()
  await look('63-preview-table', 'state')
  await page.reload()
  await page.getByText('3 columns, 1 row.').waitFor()
  await page.getByLabel('URL name').fill('')
  await page.getByText('Enter a name.').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: /Choose a tab/ }).waitFor()
  await page.goForward()
  await page.getByText('3 columns, 1 row.').waitFor()
})

test('nothing is armed before it is meant: deleting an account, a used link, a plan for reading', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings, plan: 'free' })
  const { baseUrl, signIn } = rowport.workshop
  const { page, look, load } = await createLooks(t)
  const { token } = done(await signIn.createLink('acme'))
  await signInByLink(page, rowport, '/settings')
  await page.getByRole('button', { name: 'Delete account', exact: true }).click()
  const armed = page.getByRole('button', { name: 'Delete account permanently' })
  assert.equal(await armed.isDisabled(), true, 'nothing is typed yet')
  await page.getByLabel('Type acme to confirm').fill('acm')
  assert.equal(await armed.isDisabled(), true)
  await page.getByLabel('Type acme to confirm').fill('acme')
  assert.equal(await armed.isDisabled(), false)
  rowport.clock.advanceMs(16 * 60_000)
  await armed.click()
  // The command finds this server's data from another terminal.
  await page.getByText(`ROWPORT_DATA=${rowport.folder} npm run rowport -- account link acme`).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('You signed in a while ago').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByLabel('URL name').fill('Demo Shop')
  await page.getByText('Try "demo-shop".').waitFor()
  assert.equal(
    await page.getByRole('button', { name: 'Change', exact: true }).isDisabled(),
    true,
    'no question about what cannot be a name',
  )
  await load(`${baseUrl}/sheets`, 'Upload a file, preview it as JSON, and choose a URL.')
  await load(`${baseUrl}/connect`, 'Upload a file')
  const buffer = Buffer.from('name,price\nLamp,1\n')
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'lamps.csv', mimeType: 'text/csv', buffer })
  await page.getByText('2 columns, 1 row.').waitFor()
  await page.reload()
  await page.getByText('2 columns, 1 row.').waitFor()
  await load(`${baseUrl}/keys`, 'No API keys yet')
  await page.getByRole('button', { name: 'Create key' }).click()
  assert.equal(
    await page.getByRole('radio', { name: /^Read and write/ }).isDisabled(),
    true,
    'the plan is for reading',
  )

  await page.context().clearCookies()
  await page.goto(`${baseUrl}/sign-in-link?token=${token}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Go to sign in' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Sign in' }).count(), 0)
  await look('64-used-link', 'state')
})
