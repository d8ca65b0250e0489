import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleKey } from '../../src/dashboard/contract.ts'
import { defaultShares } from '../../src/shares/shares.ts'
import { createVisitor, ownPage, signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, done, type Rowport, startRowport } from '../harness.ts'

const password = 'correct horse battery'
const ada = { email: 'ada@example.com', password, slug: 'ada' }
const signIn = async (rowport: Rowport): Promise<Visitor> => {
  const visitor = createVisitor(rowport)
  const answer = await visitor.call('POST', '/sign-in', { email: ada.email, password })
  assert.equal(answer.status, 200, answer.text)
  return visitor
}

/** An owner at home, and somebody who has come in as well. */
async function startWithThief(t: Parameters<typeof startRowport>[0]) {
  const rowport = await startRowport(t)
  const owner = createVisitor(rowport)
  assert.equal((await owner.call('POST', '/sign-up', ada)).status, 200)
  done(
    await rowport.workshop.accounts.setPlan('ada', 'pro', {
      requestsPerMinute: null,
      requestsPerMonth: null,
    }),
  )
  const sheet = await rowport.connectFile('s', 's.csv', 'name\nfirst\n', { account: 'ada' })
  const thief = await signIn(rowport)
  return { rowport, owner, thief, sheet }
}

const endings: Record<string, (owner: Visitor, thief: Visitor) => Promise<{ status: number }>> = {
  'signing out everywhere': (owner) => owner.call('POST', '/sign-out-everywhere'),
  'a new password': (owner) =>
    owner.call('POST', '/password', { current: password, next: 'another password' }),
  'signing out': (_owner, thief) => thief.call('POST', '/sign-out'),
  'confirming, which begins another session': (_owner, thief) => thief.call('POST', '/confirm', { password }),
}

for (const [how, end] of Object.entries(endings)) {
  test(`${how} ends the keys that the console got in that session`, async (t) => {
    const { rowport, owner, thief, sheet } = await startWithThief(t)
    const key = (await thief.call<ConsoleKey>('POST', '/sheets/s/console-key')).json
    const write = async () =>
      (
        await fetch(rowport.url + sheet.formA, {
          method: 'POST',
          headers: bearer(key),
          body: '{"name":"written"}',
        })
      ).status
    assert.equal(await write(), 201)
    assert.equal((await end(owner, thief)).status, 200)
    assert.equal(await write(), 403)
  })
}

test('the console of another session goes on when one ends', async (t) => {
  const { rowport, owner, thief, sheet } = await startWithThief(t)
  const key = (await owner.call<ConsoleKey>('POST', '/sheets/s/console-key')).json
  await thief.call('POST', '/sign-out')
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200)
  const change = { current: password, next: 'another password' }
  assert.equal((await owner.call('POST', '/password', change)).status, 200)
  assert.equal((await rowport.get(sheet.formA, bearer(key))).status, 200, 'this session stays')
})

test('an upload that was under way when its session ended is not kept', async (t) => {
  const { rowport, owner, thief } = await startWithThief(t)
  const { id } = done(await rowport.workshop.accounts.find('ada'))
  const begin = (visitor: Visitor, name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const headers = { ...ownPage, Cookie: visitor.cookie, 'Transfer-Encoding': 'chunked' }
    const path = `/dashboard/api/files?name=${name}`
    const sent = request(
      { host: '127.0.0.1', port: rowport.port, method: 'POST', path, headers },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    sent.write('name\n')
    return { sent, status: promise }
  }
  const folder = join(rowport.folder, 'files', id)
  const stolen = begin(thief, 'thief.csv')
  // It is really under way: what has come of it lies there.
  while (!existsSync(folder) || !readdirSync(folder).some((name) => name.includes('.part'))) await sleep(5)
  const change = { current: password, next: 'another password' }
  assert.equal((await owner.call('POST', '/password', change)).status, 200)
  stolen.sent.end('planted\n')
  assert.equal(await stolen.status, 401)
  const own = begin(owner, 'own.csv')
  own.sent.end('kept\n')
  assert.equal(await own.status, 201)
  assert.deepEqual(readdirSync(folder), ['own.csv'])
})

test('an account has only so many sessions; the oldest end', async (t) => {
  const settings = { shares: { ...defaultShares, sessions: 3 } }
  const rowport = await startRowport(t, { settings })
  const first = createVisitor(rowport)
  assert.equal((await first.call('POST', '/sign-up', ada)).status, 200)
  const statuses = async (all: Visitor[]) =>
    Promise.all(all.map(async (visitor) => (await visitor.call('GET', '/session')).status))
  const visitors = [first]
  for (let n = 0; n < 4; n++) {
    rowport.clock.advanceMs(60_000)
    visitors.push(n % 2 === 1 ? await signIn(rowport) : await signedIn(rowport, 'ada'))
  }
  assert.deepEqual(await statuses(visitors), [401, 401, 200, 200, 200])
  const metrics = await (await rowport.get('/metrics')).text()
  assert.match(metrics, /^rowport_shares_used_up_total\{share="sessions"\} 2$/m)
  const atOnce = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const visitor = createVisitor(rowport)
      const { token } = done(await rowport.workshop.signIn.createLink('ada'))
      await visitor.call('POST', '/sign-in-link', { token })
      return visitor
    }),
  )
  const living = (await statuses([...visitors, ...atOnce])).filter((status) => status === 200)
  assert.ok(living.length <= 3, `${living.length} sessions live`)
})
