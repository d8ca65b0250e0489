import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVisitor } from '../connect/visitor.ts'
import { startTogether } from '../connect/with-google.ts'
import { startSmtpPeer } from '../servers/smtp-peer.ts'
import { ada, settingsFor, tokenIn } from './mailing.ts'

test('when access to Google ends, the owner hears of it once, and not of each sheet', async (t) => {
  const peer = await startSmtpPeer(t)
  const { mail } = settingsFor(peer)
  const { rowport, google, connect, createSpreadsheet } = await startTogether(t, { mail })
  const owner = createVisitor(rowport)
  await owner.call('POST', '/sign-up', ada)
  await owner.call('POST', '/verify-email', { token: tokenIn((await peer.next()).text) })
  await connect(owner)
  const spreadsheetId = await createSpreadsheet('Stock')
  const source = { provider: 'google', spreadsheetId, tabId: 0 }
  const made = await owner.call('POST', '/sheets', { slug: 'stock', access: 'public-read', source })
  assert.equal(made.status, 201, made.text)
  await google.control('POST', 'grants/ada@example.com/revoke', {})
  rowport.clock.advanceMs(2 * 60 * 60_000)
  assert.equal((await rowport.get('/api/sheets/ada/stock')).status, 503)
  await owner.call('GET', '/sheets')
  const told = await peer.next()
  assert.deepEqual([told.to, told.subject], [ada.email, 'Rowport lost access to Google'])
  assert.match(told.text, /\(ada@example\.com\)/)
  assert.match(told.text, /1 sheet can’t be read or changed until you reconnect/)
  assert.equal(peer.mails.length, 2)
})
