import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AuditEntryView, ServerView, SessionView } from '../../src/dashboard/contract.ts'
import { createVisitor, refusalIn, signedIn, type Visitor } from '../connect/visitor.ts'
import { type Rowport, startRowport } from '../harness.ts'
import { ada, password, signUp, signUpVerified, startMailing, tokenIn, until } from './mailing.ts'

const minuteMs = 60_000
const next = 'a new password of mine'
const forgot = (rowport: Rowport, email: string) =>
  createVisitor(rowport).call('POST', '/forgot-password', { email })
const reset = (rowport: Rowport, token: string, given = next, visitor = createVisitor(rowport)) =>
  visitor.call<SessionView>('POST', '/reset-password', { token, password: given })
const canSignIn = async (rowport: Rowport, given: string) =>
  (await createVisitor(rowport).call('POST', '/sign-in', { email: ada.email, password: given })).status ===
  200
const isIn = async (visitor: Visitor) => (await visitor.call('GET', '/session')).status === 200
const actions = async (visitor: Visitor) =>
  (await visitor.call<AuditEntryView[]>('GET', '/audit')).json.map(({ action }) => action)

test('without mail settings nothing is offered, and nothing is sent', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signUp(rowport)
  assert.equal((await owner.call<ServerView>('GET', '/server')).json.hasMail, false)
  for (const [method, path, body] of [
    ['POST', '/forgot-password', { email: ada.email }],
    ['POST', '/reset-password', { token: 'x', password: next }],
    ['POST', '/verify-email', { token: 'x' }],
    ['POST', '/email/verification', undefined],
    ['POST', '/email', { email: 'x@example.com' }],
    ['PATCH', '/alerts', { isWanted: false }],
  ] as const) {
    const answer = await owner.call(method, path, body)
    assert.equal(answer.status, 403, path)
    assert.match(refusalIn(answer), /doesn’t send email/)
  }
  assert.equal(await rowport.workshop.store.takeDueMail(1), null)
})

test('a forgotten password is reset by a mailed link, once; all other sessions end', async (t) => {
  const { rowport, peer } = await startMailing(t)
  const elsewhere = await signUp(rowport)
  await peer.next()
  assert.equal((await forgot(rowport, ' ADA@example.com'.trim())).status, 200)
  const mail = await peer.next()
  assert.equal(mail.to, ada.email)
  assert.equal(mail.subject, 'Reset your Rowport password')
  const token = tokenIn(mail.text)
  assert.ok(mail.text.includes(`${rowport.workshop.baseUrl}/reset-password?token=${token}`))

  const weak = await reset(rowport, token, 'short')
  assert.deepEqual([weak.status, refusalIn(weak)], [400, 'Use at least 10 characters.'])
  assert.equal(await isIn(elsewhere), true, 'nothing was done yet')
  const here = createVisitor(rowport)
  const done = await reset(rowport, token, next, here)
  assert.equal(done.status, 200, done.text)
  assert.equal(done.json.account.slug, 'ada')
  assert.equal(done.json.owner.isEmailVerified, true, 'the mail was read')
  assert.equal(await isIn(here), true)
  assert.equal(await isIn(elsewhere), false)
  assert.equal(await canSignIn(rowport, password), false)
  assert.equal(await canSignIn(rowport, next), true)
  const again = await reset(rowport, token, 'yet another password')
  assert.deepEqual([again.status, again.setCookies], [400, []])
  assert.match(refusalIn(again), /already been used or has expired/)
  assert.equal((await actions(here))[0], 'account.password_reset')
})

test('a link is good for an hour, and lies nowhere in the store; a newer password ends those before', async (t) => {
  const { rowport, peer } = await startMailing(t, { replies: { RCPT: '451 later' } })
  await signUp(rowport)
  await forgot(rowport, ada.email)
  await until('it was tried', () => rowport.seen.filter(({ event }) => event === 'mail_failed').length >= 2)
  const stored = readdirSync(rowport.folder)
    .filter((name) => name.startsWith('rowport.db'))
    .map((name) => readFileSync(join(rowport.folder, name), 'latin1'))
    .join('')
  assert.ok(stored.includes('mail_'), 'it waits there')
  assert.ok(!stored.includes('token='), 'and cannot be read')
  peer.behavior = {}
  rowport.clock.advanceMs(minuteMs)
  const mails = [await peer.next(), await peer.next()]
  const first = tokenIn(mails.find(({ subject }) => subject.startsWith('Reset'))?.text ?? '')
  assert.ok(!stored.includes(first))
  await forgot(rowport, ada.email)
  const second = tokenIn((await peer.next()).text)
  rowport.clock.advanceMs(59 * minuteMs)
  assert.equal((await reset(rowport, first)).status, 400, 'an hour is over')
  assert.equal((await reset(rowport, second)).status, 200)

  await forgot(rowport, ada.email)
  const third = tokenIn((await peer.next()).text)
  await forgot(rowport, ada.email)
  const fourth = tokenIn((await peer.next()).text)
  assert.equal((await reset(rowport, fourth, 'the fourth password')).status, 200)
  assert.equal((await reset(rowport, third, 'the third password')).status, 400)
})

test('the answer does not tell who is known, and nobody’s box is filled', async (t) => {
  const { rowport, peer } = await startMailing(t)
  await signUp(rowport)
  await peer.next()
  const known = await forgot(rowport, ada.email)
  const unknown = await forgot(rowport, 'nobody@example.com')
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
  assert.equal((await peer.next()).to, ada.email)
  for (let n = 0; n < 8; n++) assert.equal((await forgot(rowport, ada.email)).status, 200)
  const eleventh = await forgot(rowport, 'another@example.com')
  assert.equal(eleventh.status, 429)
  assert.ok(Number(eleventh.headers['retry-after']) > 0)
  for (let n = 0; n < 4; n++) await peer.next()
  rowport.clock.advanceMs(11 * minuteMs)
  assert.equal((await forgot(rowport, ada.email)).status, 200)
  rowport.clock.advanceMs(61 * minuteMs)
  assert.equal((await forgot(rowport, ada.email)).status, 200)
  await peer.next()
  assert.equal(peer.mails.filter(({ subject }) => subject.startsWith('Reset')).length, 6)
})

test('an address is verified by its link; another one is not until it was shown as well', async (t) => {
  const { rowport, peer } = await startMailing(t)
  const owner = await signUp(rowport)
  const ownerView = async () => (await owner.call<SessionView>('GET', '/session')).json.owner
  assert.equal((await ownerView()).isEmailVerified, false, 'signing up does not wait for it')
  const first = await peer.next()
  assert.equal(first.subject, 'Verify your email for Rowport')
  assert.equal((await owner.call('POST', '/email/verification')).status, 200)
  const second = await peer.next()
  const verify = (mail: { text: string }) =>
    createVisitor(rowport).call<{ email: string }>('POST', '/verify-email', { token: tokenIn(mail.text) })
  assert.equal((await reset(rowport, tokenIn(first.text))).status, 400, 'it resets no password')
  assert.deepEqual((await verify(second)).json, { email: ada.email })
  assert.equal((await verify(second)).status, 400)
  assert.equal((await ownerView()).isEmailVerified, true)
  assert.equal((await owner.call('POST', '/email/verification')).status, 200, 'there is nothing to send')

  await signUp(rowport, { ...ada, email: 'grace@example.com', slug: 'grace' })
  await peer.next()
  const taken = await owner.call('POST', '/email', { email: 'Grace@example.com' })
  assert.equal(taken.status, 409)
  const changed = await owner.call<SessionView>('POST', '/email', { email: 'Ada@Other.org' })
  assert.deepEqual(
    [changed.status, changed.json.owner.email, changed.json.owner.isEmailVerified],
    [200, 'ada@other.org', false],
  )
  const told = [await peer.next(), await peer.next()]
  const toOld = told.find(({ to }) => to === ada.email)
  const toNew = told.find(({ to }) => to === 'ada@other.org')
  assert.match(toOld?.subject ?? '', /email was changed/)
  assert.ok(toNew)
  assert.equal((await verify(first)).status, 400, 'that was another address')
  assert.equal((await verify(toNew)).status, 200)
  assert.deepEqual((await actions(owner)).sort(), [
    'account.email_changed',
    'account.email_verified',
    'account.email_verified',
  ])
  for (let n = 0; n < 3; n++) await owner.call('POST', '/email', { email: `ada${n}@example.org` })
  const tooOften = await owner.call('POST', '/email', { email: 'ada9@example.org' })
  assert.equal(tooOften.status, 429)
})

test('which addresses are known is told to a network a few times, however many accounts it makes', async (t) => {
  const { rowport, peer } = await startMailing(t)
  await signUp(rowport)
  await peer.next()
  const others = []
  for (let n = 0; n < 4; n++) {
    others.push(await signUp(rowport, { ...ada, email: `other${n}@example.com`, slug: `other-${n}` }))
    await peer.next()
  }
  const statuses: number[] = []
  for (const other of others) statuses.push((await other.call('POST', '/email', { email: ada.email })).status)
  assert.deepEqual(statuses, [409, 409, 409, 429])
})

test('an account that came by a link has its first address verified as well', async (t) => {
  const { rowport, peer } = await startMailing(t)
  const owner = await signedIn(rowport)
  assert.equal((await owner.call('POST', '/email', { email: 'x@example.com' })).status, 403)
  assert.equal((await owner.call('PATCH', '/alerts', { isWanted: true })).status, 403)
  const wish = { current: null, next, email: 'owner@example.com' }
  assert.equal((await owner.call('POST', '/password', wish)).status, 200)
  assert.equal((await peer.next()).to, 'owner@example.com')
  const verified = await signUpVerified({ rowport, peer })
  assert.equal((await verified.call<SessionView>('GET', '/session')).json.owner.wantsAlerts, true)
})
