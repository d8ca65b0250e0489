import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionView } from '../../src/dashboard/contract.ts'
import { createVisitor, refusalIn, signedIn, type Visitor } from '../connect/visitor.ts'
import { done, type Rowport, startRowport } from '../harness.ts'

const password = 'correct horse battery'
const ada = { email: 'ada@example.com', password, slug: 'ada' }
const signUp = (rowport: Rowport, wish = ada) => {
  const visitor = createVisitor(rowport)
  return visitor.call<SessionView>('POST', '/sign-up', wish).then((answer) => ({ visitor, answer }))
}
const signIn = (rowport: Rowport, email: string, given: string, visitor: Visitor = createVisitor(rowport)) =>
  visitor.call<SessionView>('POST', '/sign-in', { email, password: given })

test('signing up makes an account on the plan for newcomers, and signs in; the password does so again', async (t) => {
  const rowport = await startRowport(t)
  const { visitor, answer } = await signUp(rowport, { ...ada, email: ' Ada@Example.COM '.trim() })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.account.slug, 'ada')
  assert.equal(answer.json.account.plan.name, 'free')
  assert.deepEqual(answer.json.owner, {
    email: 'ada@example.com',
    isEmailVerified: false,
    wantsAlerts: true,
    hasPassword: true,
    hasGoogle: false,
  })
  assert.equal((await visitor.call('GET', '/session')).status, 200)
  assert.equal((await signIn(rowport, 'ADA@example.com', password)).status, 200)
  for (const wrong of ['correct horse batterY', `${password} `, '', 'x'.repeat(4_000)]) {
    const refused = await signIn(rowport, ada.email, wrong)
    assert.equal(refused.status, 401)
    assert.deepEqual(refused.setCookies, [])
  }
})

test('what is wrong with a sign-up is told beside its field, and nothing is made', async (t) => {
  const rowport = await startRowport(t)
  const cases: [wish: Partial<typeof ada>, status: number, field: string | undefined][] = [
    [{ email: 'nobody' }, 400, 'email'],
    [{ password: 'too short' }, 400, 'password'],
    [{ password: 'ä'.repeat(600) }, 400, 'password'],
    [{ slug: 'Not A Slug' }, 400, 'slug'],
    [{ slug: 'acme' }, 409, 'slug'],
  ]
  for (const [wish, status, field] of cases) {
    const { answer } = await signUp(rowport, { ...ada, ...wish })
    assert.equal(answer.status, status, JSON.stringify(wish))
    assert.equal((answer.json as unknown as { error: { field?: string } }).error.field, field)
  }
  assert.equal(await rowport.workshop.store.countAccounts(), 1)
})

test('nobody learns whether an e-mail address is known: not from words, not from the time it takes', async (t) => {
  const rowport = await startRowport(t)
  await signUp(rowport)
  const known = await signIn(rowport, ada.email, 'a wrong password')
  const unknown = await signIn(rowport, 'nobody@example.com', 'a wrong password')
  assert.equal(known.status, unknown.status)
  assert.equal(known.text, unknown.text)
  const { answer } = await signUp(rowport, { ...ada, slug: 'another' })
  assert.equal(answer.status, 409)
  assert.doesNotMatch(answer.text, /e-?mail|address/i)
  assert.deepEqual(answer.setCookies, [])

  const times: Record<string, number[]> = { known: [], unknown: [] }
  for (let n = 0; n < 12; n++) {
    for (const [name, email] of [
      ['known', ada.email],
      ['unknown', `nobody${n}@example.com`],
    ] as const) {
      rowport.clock.advanceMs(3_600_000)
      const begunMs = performance.now()
      await signIn(rowport, email, 'a wrong password')
      times[name]?.push(performance.now() - begunMs)
    }
  }
  const median = (list: number[] = []) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0
  const ratio = median(times.known) / median(times.unknown)
  assert.ok(ratio > 0.6 && ratio < 1.6, `a known one takes ${ratio.toFixed(2)} times as long`)
})

test('guessing slows down, for one owner and for one address; whoever waits as told may try again', async (t) => {
  const rowport = await startRowport(t)
  await signUp(rowport)
  const waits: number[] = []
  let tried = 0
  for (let n = 0; n < 40; n++) {
    const answer = await signIn(rowport, ada.email, 'a wrong password')
    if (answer.status === 401) tried++
    else {
      assert.equal(answer.status, 429)
      const waitSeconds = Number(answer.headers['retry-after'])
      waits.push(waitSeconds)
      // The right password does not help before that.
      assert.equal((await signIn(rowport, ada.email, password)).status, 429)
      rowport.clock.advanceMs(waitSeconds * 1_000)
    }
    if (waits.length === 4) break
  }
  assert.ok(tried <= 25, `${tried} guesses`)
  assert.ok(waits[0] === 30 && (waits.at(-1) ?? 0) > 100, `the wait grows: ${waits}`)
  assert.equal((await signIn(rowport, ada.email, password)).status, 200, 'no lock-out')

  rowport.clock.advanceMs(3_600_000)
  const statuses: number[] = []
  for (let n = 0; n < 22; n++) statuses.push((await signIn(rowport, `${n}@example.com`, 'guess')).status)
  assert.equal(statuses.filter((status) => status === 401).length, 20, 'one address, many owners')
})

test('signing up can be turned off, and is bounded for one address', async (t) => {
  const closed = await startRowport(t, { settings: { signUpPlan: null } })
  const { answer } = await signUp(closed)
  assert.equal(answer.status, 403)
  const server = await createVisitor(closed).call<{ canSignUp: boolean }>('GET', '/server')
  assert.equal(server.json.canSignUp, false)

  const open = await startRowport(t)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) {
    const wish = { ...ada, slug: `ada-${n}`, email: `ada${n}@example.com` }
    statuses.push((await signUp(open, wish)).answer.status)
  }
  assert.deepEqual(statuses.slice(9), [200, 429, 429])
})

test('a new password needs the old one, ends other sessions, and is the only one from then on', async (t) => {
  const rowport = await startRowport(t)
  const { visitor } = await signUp(rowport)
  const other = createVisitor(rowport)
  await signIn(rowport, ada.email, password, other)
  const change = (current: string | null, next: string) =>
    visitor.call<{ error?: { field?: string } }>('POST', '/password', { current, next })
  for (const [current, next, field] of [
    ['not the old one', 'another password', 'current'],
    [null, 'another password', 'current'],
    [password, 'short', 'next'],
  ] as const) {
    const refused = await change(current, next)
    assert.equal(refused.status, 400)
    assert.equal(refused.json.error?.field, field)
  }
  assert.equal((await other.call('GET', '/session')).status, 200)
  assert.equal((await change(password, 'another password')).status, 200)
  assert.equal((await visitor.call('GET', '/session')).status, 200, 'this one stays')
  assert.equal((await other.call('GET', '/session')).status, 401)
  assert.equal((await signIn(rowport, ada.email, password)).status, 401)
  assert.equal((await signIn(rowport, ada.email, 'another password')).status, 200)
})

test('an account that came by a link gets an owner with its first password', async (t) => {
  const rowport = await startRowport(t)
  await signUp(rowport)
  const owner = await signedIn(rowport)
  const before = await owner.call<SessionView>('GET', '/session')
  assert.deepEqual(before.json.owner, {
    email: null,
    isEmailVerified: false,
    wantsAlerts: true,
    hasPassword: false,
    hasGoogle: false,
  })
  const set = (email?: string) =>
    owner.call('POST', '/password', { current: null, next: 'a good password', ...(email && { email }) })
  assert.equal((await set()).status, 400)
  const taken = await set('ADA@example.com')
  assert.equal(taken.status, 409)
  assert.match(refusalIn(taken), /You can’t use this email/)
  assert.equal((await set('acme@example.com')).status, 200)
  const answer = await signIn(rowport, 'acme@example.com', 'a good password')
  assert.equal(answer.json.account.slug, 'acme')
  assert.equal((await set('mallory@example.com')).status, 400, 'from now on the old one is needed')
})

test('a password that was hashed by weaker settings is hashed anew when it is next used', async (t) => {
  const rowport = await startRowport(t)
  await signUp(rowport)
  const { store } = rowport.workshop
  const { argon2Sync, randomBytes } = await import('node:crypto')
  const nonce = randomBytes(16)
  const weak = {
    message: Buffer.from(password),
    nonce,
    parallelism: 1,
    tagLength: 32,
    memory: 8_192,
    passes: 1,
  }
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const phc = `$argon2id$v=19$m=8192,t=1,p=1$${text(nonce)}$${text(argon2Sync('argon2id', weak))}`
  const owner = await store.ownerByEmail(ada.email)
  assert.ok(owner)
  await store.setPassword(owner.id, { from: owner.passwordHash, to: phc })
  assert.equal((await signIn(rowport, ada.email, password)).status, 200)
  const renewed = (await store.ownerByEmail(ada.email))?.passwordHash ?? ''
  assert.match(renewed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.equal((await signIn(rowport, ada.email, password)).status, 200)
  assert.ok(done(await rowport.workshop.accounts.find('ada')))
})
