import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionView } from '../../src/dashboard/contract.ts'
import { bearer, startRowport } from '../harness.ts'
import { settingsFor, signUp, signUpVerified, startMailing } from './mailing.ts'

const hourMs = 60 * 60_000
/** Longer than a server waits before it looks again. */
const nextLookMs = 6_000

test('a broken sheet is told once over all instances, and that it works again; only to a verified address that wants it', async (t) => {
  const { rowport, peer } = await startMailing(t)
  await startRowport(t, { beside: rowport, settings: settingsFor(peer) })
  const owner = await signUpVerified({ rowport, peer })
  const unverified = await signUp(rowport, {
    email: 'eve@example.com',
    password: 'x'.repeat(12),
    slug: 'eve',
  })
  await peer.next()
  const quiet = await signUpVerified(
    { rowport, peer },
    { email: 'shy@example.com', password: 'x'.repeat(12), slug: 'shy' },
  )
  const off = await quiet.call<SessionView>('PATCH', '/alerts', { isWanted: false })
  assert.equal(off.json.owner.wantsAlerts, false)
  const before = peer.mails.length

  const sheets = await Promise.all(
    ['ada', 'eve', 'shy'].map((account) =>
      rowport.connectFile('stock', `${account}.csv`, 'name\nLamp\n', { account, access: 'public-read' }),
    ),
  )
  const look = async () => {
    rowport.clock.advanceMs(60_000)
    for (const { formA } of sheets) await rowport.get(formA)
    // Figures are written when an owner looks, or every ten seconds.
    for (const one of [owner, unverified, quiet]) await one.call('GET', '/sheets')
  }
  for (const { path } of sheets) await rm(path)
  await look()
  await sleep(nextLookMs)
  assert.equal(peer.mails.length, before, 'it may be a hiccup')
  rowport.clock.advanceMs(60_000)
  const broken = await peer.next()
  assert.deepEqual([broken.to, broken.subject], ['ada@example.com', 'Sheet “stock” is broken'])
  assert.match(broken.text, /^ {2}The file is missing; it may have been deleted, renamed or moved\.$/m)
  assert.ok(broken.text.includes(`${rowport.workshop.baseUrl}/sheets/stock\n`), broken.text)
  assert.match(broken.text, /for the account “ada” at http/)

  for (const { path } of sheets) await writeFile(path, 'name\nLamp\n')
  await look()
  await sleep(nextLookMs)
  assert.equal(peer.mails.length, before + 1, 'not twice, and not again within the hour')
  rowport.clock.advanceMs(hourMs)
  const recovered = await peer.next()
  assert.deepEqual([recovered.to, recovered.subject], ['ada@example.com', 'Sheet “stock” works again'])
  assert.equal(peer.mails.length, before + 2)
})

test('the quota is told at 80 % and when it is used up, once each', async (t) => {
  const { rowport, peer } = await startMailing(t)
  await signUpVerified({ rowport, peer })
  const sheet = await rowport.connectFile('stock', 'stock.csv', 'name\nLamp\n', { account: 'ada' })
  const account = await rowport.workshop.store.findAccount('ada')
  assert.ok(account)
  const limits = { plan: 'free', requestsPerMinute: 1_000, requestsPerMonth: 20 }
  await rowport.workshop.store.setPlan(account.id, limits)
  const key = await rowport.createKey({ account: 'ada' })
  const ask = async (count: number) => {
    for (let n = 0; n < count; n++) await rowport.get(sheet.formA, bearer(key))
  }
  await ask(15)
  await sleep(nextLookMs)
  assert.equal(peer.mails.length, 1, 'three quarters are no news')
  await ask(2)
  const early = await peer.next()
  assert.equal(early.subject, 'You’ve used 80% of this month’s requests')
  assert.match(early.text, /1[67] of 20 requests are used\. The quota resets on Dec 15, 2026\./)
  await ask(5)
  const used = await peer.next()
  assert.equal(used.subject, 'You’ve used all of this month’s requests')
  await sleep(nextLookMs)
  assert.equal(peer.mails.length, 3)
})
