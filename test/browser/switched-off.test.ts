import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedIn } from '../connect/visitor.ts'
import { startTogether } from '../connect/with-google.ts'
import { bearer } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const assumptionOf = { writes: 'marker_once', reads: 'blank_rows_kept' } as const

test('what a proof has switched off stands on the page of each sheet there, with why and what helps', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { rowport, google, createSpreadsheet } = await startTogether(t, { isRegistered: false })
  const keyFile = await google.control<{ client_email: string }>('POST', 'service-accounts', {})
  const spreadsheetId = await createSpreadsheet('Prices')
  await google.control('POST', 'share', { spreadsheetId, with: keyFile.client_email })
  const owner = await signedIn(rowport)
  assert.equal((await owner.call('POST', '/google/key', { key: JSON.stringify(keyFile) })).status, 200)
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  const connected = await owner.call('POST', '/sheets', { slug: 'prices', access: 'private', source })
  assert.equal(connected.status, 201, connected.text)
  await rowport.connectFile('people', 'people.csv', 'name\nAda\n')
  const key = await rowport.createKey()
  const found = (ability: keyof typeof assumptionOf, holds: boolean) =>
    rowport.workshop.store.saveProof(`google at ${google.url}`, [
      { assumption: assumptionOf[ability], holds, saw: 'the second one was taken' },
    ])

  const { page, look, load } = await createLooks(t)
  const { baseUrl } = rowport.workshop
  await signInByLink(page, rowport, '/sheets/prices')
  await page.getByRole('heading', { name: 'prices' }).waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)

  await found('writes', false)
  await load(`${baseUrl}/sheets/prices`, /[Ww]riting to Google is switched off/)
  const banner = page.getByRole('alert')
  assert.equal(await banner.count(), 1)
  const said = await banner.innerText()
  t.diagnostic(said)
  assert.match(
    said,
    /^Writing to Google is switched off on this server\. Rows are read as before; every write returns 502/,
  )
  assert.match(said, /can try it again with “rowport google prove”/)
  await banner.getByText('What was found').click()
  await banner.getByText('A second marker of the same id is refused').waitFor()
  await look('91-writes-switched-off')
  const url = `${baseUrl}/api/sheets/acme/prices`
  assert.equal((await fetch(url, { headers: bearer(key) })).status, 200)
  const refused = await fetch(url, { method: 'POST', headers: bearer(key), body: '{"name":"Rug"}' })
  assert.equal(refused.status, 502)
  await load(`${baseUrl}/sheets/people`, 'people.csv')
  assert.equal(await page.getByRole('alert').count(), 0, 'a file is no concern of Google’s')
  await load(`${baseUrl}/sheets`, 'prices')
  const inList = (slug: string) =>
    page.getByRole('row', { name: slug }).getByText('Writing to Google is switched off')
  assert.deepEqual([await inList('prices').count(), await inList('people').count()], [1, 0])
  await look('92-switched-off-in-list')

  await found('reads', false)
  await load(`${baseUrl}/sheets/prices`, /[Rr]eading from Google is switched off/)
  assert.equal(await banner.count(), 1, 'what is not read is not written either')
  assert.match(await banner.innerText(), /Rows are neither read nor written/)
  await look('93-reads-switched-off', 'state')

  await found('writes', true)
  await found('reads', true)
  await load(`${baseUrl}/sheets/prices`, 'Prices')
  assert.equal(await page.getByRole('alert').count(), 0)
})
