import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { done, type Rowport, startRowport } from '../harness.ts'
import { ada, settingsFor, signUp, startMailing, until } from './mailing.ts'

const hourMs = 60 * 60_000
const seenBy = (rowports: readonly Rowport[], event: string) =>
  rowports.flatMap(({ seen }) => seen).filter((one) => one.event === event).length

test('a mail survives a server that refuses it for now, and a restart', async (t) => {
  const { rowport, peer } = await startMailing(t, { replies: { RCPT: '451 later' } })
  await signUp(rowport)
  await until('it was refused', () => seenBy([rowport], 'mail_failed') === 1)
  await rowport.stopServer()
  peer.behavior = {}
  const other = await startRowport(t, { beside: rowport, settings: settingsFor(peer) })
  await sleep(1_500)
  assert.equal(peer.mails.length, 0, 'not before its pause is over')
  rowport.clock.advanceMs(31_000)
  assert.equal((await peer.next()).to, ada.email)
  await until('it is known to be sent', () => seenBy([other], 'mail_sent') === 1)
  assert.equal(await other.workshop.store.takeDueMail(1), null)
})

test('pauses grow, and after a day a mail is given up; one that is refused for good is so at once', async (t) => {
  const { rowport, peer } = await startMailing(t, { replies: { RCPT: '451 later' } })
  await signUp(rowport)
  const failed = () => seenBy([rowport], 'mail_failed')
  for (const [n, pauseMs] of [30_000, 60_000, 120_000, 240_000].entries()) {
    await until(`attempt ${n + 1}`, () => failed() === n + 1)
    const connected = peer.connections
    rowport.clock.advanceMs(pauseMs - 1_000)
    await sleep(1_200)
    assert.equal(peer.connections, connected, `pause ${n + 1} is not over`)
    rowport.clock.advanceMs(1_000)
  }
  await until('attempt 5', () => failed() === 5)
  rowport.clock.advanceMs(24 * hourMs)
  await until('it is given up', () => seenBy([rowport], 'mail_given_up') === 1)
  peer.behavior = { replies: { RCPT: '550 nobody' } }
  await signUp(rowport, { ...ada, email: 'gone@example.com', slug: 'gone' })
  await until('it is given up', () => seenBy([rowport], 'mail_given_up') === 2)
  assert.equal(failed(), 5)
  assert.equal(peer.mails.length, 0)
})

test('a server that hangs up after the mail gets it again under the same id, and so knows it', async (t) => {
  const { rowport, peer } = await startMailing(t, { dropsAfterData: true })
  await signUp(rowport)
  const first = await peer.next()
  await until('nobody said it was taken', () => seenBy([rowport], 'mail_failed') === 1)
  peer.behavior = {}
  rowport.clock.advanceMs(31_000)
  const second = await peer.next()
  assert.equal(second.headers['message-id'], first.headers['message-id'])
})

test('a mail server that hangs does not keep Rowport from ending, and the mail is sent after the next start', async (t) => {
  const { rowport, peer } = await startMailing(t, { slowMs: 14_000 })
  await signUp(rowport)
  await until('it is being sent', () => peer.connections === 1)
  const begunMs = performance.now()
  await rowport.stopServer()
  assert.ok(performance.now() - begunMs < 8_000, 'it ends within seconds')
  peer.behavior = {}
  await startRowport(t, { beside: rowport, settings: settingsFor(peer) })
  rowport.clock.advanceMs(31_000)
  assert.equal((await peer.next()).to, ada.email)
})

test('of several instances one sends each mail', async (t) => {
  const { rowport, peer } = await startMailing(t, { slowMs: 20 })
  const all = [rowport]
  for (let n = 0; n < 2; n++)
    all.push(await startRowport(t, { beside: rowport, settings: settingsFor(peer) }))
  const people = Array.from({ length: 9 }, (_, n) => `owner${n}@example.com`)
  for (const [n, email] of people.entries()) {
    await signUp(all[n % 3] ?? rowport, { ...ada, email, slug: `owner-${n}` })
  }
  await until('all are sent', () => seenBy(all, 'mail_sent') === people.length)
  await sleep(1_500)
  assert.deepEqual(peer.mails.map(({ to }) => to).sort(), people)
})

test('whoever has very many mails to send, under one name or several, does not keep another’s from going out', async (t) => {
  const { rowport, peer } = await startMailing(t, { slowMs: 60 })
  await signUp(rowport)
  const { store, accounts } = rowport.workshop
  const names = Array.from({ length: 10 }, (_, n) => `loud-${n}`)
  const loud = await Promise.all(names.map(async (slug) => done(await accounts.create(slug, 'free'))))
  const sent = () => peer.mails.filter(({ to }) => to === ada.email).length
  await until('the first is sent', () => sent() === 1)
  const { sealing } = rowport.workshop
  for (let n = 0; n < 100; n++) {
    const id = `mail_${n}`
    const text = JSON.stringify({ to: ada.email, subject: `${n}`, text: 'broken' })
    const accountId = loud[n % loud.length]?.id ?? ''
    const sealed = sealing.seal(text, `mail ${id} of ${accountId}`)
    await store.addMail({ id, accountId, sealed, keyId: sealing.keyId, lifeMs: hourMs })
  }
  await until('they are being sent', () => sent() > 2)
  await signUp(rowport, { ...ada, email: 'quiet@example.com', slug: 'quiet' })
  await until('the other’s is sent', () => peer.mails.some(({ to }) => to === 'quiet@example.com'))
  assert.ok(sent() < 40, `${sent()} of the others came first`)
})
