import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cli } from '../../src/cli.ts'
import { bearer, done, startMs, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage, watchChanges } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0' }

test('requests are filtered, opened and led to the console; changes are told with who made them', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { formA } = await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const key = await rowport.createKey()
  await rowport.get(formA, bearer(key))
  await rowport.get(`${formA}?pric=1`, bearer(key))
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets/lamps/requests')
  await page.getByRole('table').getByText('invalid_query').waitFor()
  await page.getByLabel('Status').selectOption('client-error')
  await page.getByRole('table').getByText('200', { exact: true }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('table').getByText('invalid_query').waitFor()
  assert.equal(await page.getByRole('table').getByText('200', { exact: true }).count(), 0)
  await page.getByRole('button', { name: /details/ }).click()
  const panel = page.getByRole('dialog')
  await panel.getByText('Error code').waitFor()
  await look('65-request', 'state')
  const changes = watchChanges(page)
  await panel.getByRole('link', { name: 'Open in console' }).click()
  await page.getByText('Send a request to see the response.').waitFor()
  assert.deepEqual(changes, [], 'nothing is sent by opening it')

  await page.getByRole('navigation', { name: 'Parts of this sheet' }).getByText('Settings').click()
  await page.getByRole('switch').click()
  await page.getByRole('status').getByText('Saved.').waitFor()
  const env = { ROWPORT_DATA: rowport.folder, ROWPORT_SECRET: 'the secret of the tests' }
  const silent = { write: () => true }
  assert.equal(await cli(['key', 'scope', key.id, 'read'], { env, stdout: silent, stderr: silent }), 0)
  await page.getByRole('link', { name: 'Audit log' }).click()
  const rows = page.getByRole('row')
  await rows
    .filter({ hasText: 'Sheet settings changed: lamps' })
    .filter({ hasText: 'paused: true' })
    .waitFor()
  await rows
    .filter({ hasText: 'API key changed: test' })
    .filter({ hasText: 'scope: read' })
    .filter({ hasText: 'Command line' })
    .waitFor()
  await rows.filter({ hasText: '127.0.0.1' }).first().waitFor()
  await look('66-audit')
})

test('older requests are loaded as far as they are kept, filters look through all of them, and the URL brings them back', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\n')
  const [sheet] = done(await rowport.workshop.sheets.list('acme'))
  assert.ok(sheet)
  const recent = Array.from({ length: 230 }, (_, nth) => ({
    id: String(nth).padStart(6, '0'),
    sheetId: sheet.id,
    keyId: null,
    atMs: startMs + nth,
    method: 'GET',
    operation: 'list_rows',
    status: nth === 20 ? 502 : 200,
    code: nth === 20 ? 'sheet_unreadable' : null,
    rowsFrom: 'hit',
    durationMs: 1,
  }))
  await rowport.workshop.store.addUsage({
    counts: [],
    latencies: [],
    providerCalls: [],
    activity: [],
    recent,
  })
  const { page, look } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets/lamps/requests')
  const older = page.getByRole('button', { name: 'Load older requests' })
  await older.waitFor()
  await page.getByText('The last 500 requests of each sheet are kept.').waitFor()
  const count = 'document.querySelectorAll("tbody tr").length'
  assert.equal(await page.evaluate(count), 100)
  await look('67-requests')
  await page.getByLabel('Status').selectOption('server-error')
  await page.getByText('None of the last 100 requests match.').waitFor()
  await older.click()
  await page.getByText('None of the last 200 requests match.').waitFor()
  await older.click()
  await page.getByRole('table').getByText('sheet_unreadable').waitFor()
  await older.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('table').getByText('sheet_unreadable').waitFor()
  await page.getByLabel('Status').selectOption('')
  await untilInPage(page, `${count} === 230`)
})
