import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { signedIn } from '../connect/visitor.ts'
import { bearer, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

test('an owner sees which limits were reached: what programs were refused, and what had to make room', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const shares = { ...defaultShares, following_at_once: 1, webhooks: 2, sessions: 1 }
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0', shares } })
  const { baseUrl } = rowport.workshop
  const { page, look, load, complaints } = await createLooks(t)
  await signInByLink(page, rowport, '/usage')
  await page.getByText('None at this server, since its start').waitFor()

  const { formB } = await rowport.connectFile('stock', 'stock.csv', 'name\nLamp\n')
  const key = await rowport.createKey()
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const stream = { headers: { ...bearer(key), Accept: 'text/event-stream' }, signal: leaving.signal }
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push((await fetch(`${rowport.url}${formB}/changes`, stream)).status)
  assert.deepEqual(statuses, [200, 429, 429, 429])
  rowport.clock.advanceMs(5 * 60_000)
  // In another browser, and then here once more: each signs the other out.
  await signedIn(rowport)
  // Of two that signed in within the same millisecond, either may be the oldest.
  rowport.clock.advanceMs(1_000)
  await signInByLink(page, rowport, '/usage')

  await load(`${baseUrl}/usage`, 'Limits reached recently')
  const list = page.getByRole('list', { name: 'Limits reached recently' })
  const items = await list.getByRole('listitem').allInnerTexts()
  assert.deepEqual(
    items.map((text) => text.replaceAll(/\s+/g, ' ')),
    [
      'Signed-in browsers The oldest was signed out 2 times · last just now',
      'Requests waiting for changes Requests were refused (429) 3 times · last 5 minutes ago',
    ],
  )
  await page.getByText('History of changes (MB)').waitFor()
  await page.getByText('0 of 2', { exact: true }).waitFor()
  await look('46-used-up')
  assert.deepEqual(complaints, [])
})
