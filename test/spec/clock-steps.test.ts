import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { createVisitor, signedIn, type Visitor } from '../connect/visitor.ts'
import { bearer, configOf, done, type Rowport, startRowport } from '../harness.ts'
import { connectMoody, createMoodyProvider } from './freshness-provider.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
/** What a machine's time may be set by while the server runs. */
const steps = [-hourMs, -minuteMs, minuteMs, hourMs]

for (const stepMs of steps) {
  const step = `a step of ${stepMs / secondMs} s`

  test(`${step}: an account that used its minute up waits for the rest of it, as it is told`, async (t) => {
    const { rowport, read } = await start(t, 2)
    for (let n = 0; n < 2; n++) assert.equal((await read()).status, 200)
    rowport.clock.advanceMs(20 * secondMs)
    rowport.clock.stepMs(stepMs)
    const refused = await read()
    assert.equal(refused.status, 429)
    const resetSeconds = Math.ceil((rowport.clock.nowMs() + 40 * secondMs) / secondMs)
    assert.deepEqual(
      [refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-reset')],
      ['40', String(resetSeconds)],
    )
    rowport.clock.advanceMs(40 * secondMs - 1)
    assert.equal((await read()).status, 429)
    rowport.clock.advanceMs(1)
    assert.equal((await read()).status, 200)
  })

  test(`${step}: an address that guessed too often waits for the rest of its minute`, async (t) => {
    const rowport = await startRowport(t, { settings: { refusalsPerMinute: 1 } })
    const guess = () => rowport.get('/api/sheets/acme/none', { 'X-API-Key': 'guess' })
    assert.notEqual((await guess()).status, 429)
    rowport.clock.stepMs(stepMs)
    const refused = await guess()
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60'])
    rowport.clock.advanceMs(minuteMs)
    assert.notEqual((await guess()).status, 429)
  })

  test(`${step}: an edit made outside shows after cache_seconds, and not at the price of asking each time`, async (t) => {
    const { rowport, sheet, read } = await start(t, null)
    const rows = async () => {
      const answer = await read()
      return { text: await answer.text(), age: answer.headers.get('age') }
    }
    assert.deepEqual(await rows(), { text: '[{"n":1}]', age: '0' })
    await writeFile(sheet.path, 'n\n2\n')
    rowport.clock.advanceMs(4 * secondMs)
    rowport.clock.stepMs(stepMs)
    assert.deepEqual(await rows(), { text: '[{"n":1}]', age: '4' }, 'from memory, as before')
    rowport.clock.advanceMs(6 * secondMs)
    assert.deepEqual(await rows(), { text: '[{"n":2}]', age: '0' })
  })

  test(`${step}: a failure stands as long as it would have`, async (t) => {
    const { fetches, ask, clock, provider } = await startMoody(t)
    provider.failure = new ProviderFailure('the provider is away', { isPassing: true })
    assert.equal((await ask()).status, 502)
    clock.stepMs(stepMs)
    assert.equal((await ask()).status, 502)
    assert.equal(fetches(), 1, 'nobody asked again')
    clock.advanceMs(secondMs)
    provider.failure = null
    assert.equal((await ask()).status, 200)
  })

  test(`${step}: a copy outlasts a failure as long as it may, and no longer`, async (t) => {
    const { ask, clock, provider, rowport } = await startMoody(t)
    done(await rowport.workshop.sheets.change('acme', 'moody', { staleIfErrorSeconds: 60 }))
    assert.equal((await ask()).status, 200)
    provider.failure = new ProviderFailure('the provider is away', { isPassing: true })
    clock.advanceMs(30 * secondMs)
    clock.stepMs(stepMs)
    assert.equal((await ask()).status, 200)
    clock.advanceMs(40 * secondMs)
    assert.equal((await ask()).status, 502)
  })

  test(`${step}: a session lives and is recent for as long as it would have been`, async (t) => {
    const rowport = await startRowport(t)
    const key = await rowport.createKey()
    const owner = await signedIn(rowport)
    const regenerate = async () => (await owner.call('POST', `/keys/${key.id}/regenerate`)).status
    rowport.clock.advanceMs(10 * minuteMs)
    rowport.clock.stepMs(stepMs)
    rowport.clock.advanceMs(5 * minuteMs)
    assert.equal(await regenerate(), 201, 'signed in a quarter of an hour ago')
    rowport.clock.advanceMs(1)
    assert.equal(await regenerate(), 403, 'and a little longer ago')
    assert.ok(await isIn(owner))
    rowport.clock.advanceMs(12 * hourMs - minuteMs)
    assert.ok(await isIn(owner))
    rowport.clock.stepMs(-stepMs)
    rowport.clock.advanceMs(12 * hourMs + 1)
    assert.equal(await isIn(owner), false, 'idle for half a day')
  })

  test(`${step}: a sign-in link opens for a quarter of an hour, whoever made it, and whenever they started`, async (t) => {
    const rowport = await startRowport(t)
    const early = done(await rowport.workshop.signIn.createLink('acme'))
    const late = done(await rowport.workshop.signIn.createLink('acme'))
    rowport.clock.advanceMs(10 * minuteMs)
    rowport.clock.stepMs(stepMs)
    // As a command does, on the same folder and the machine's new time.
    const command = await openWorkshop(configOf(rowport.folder), rowport.clock, () => {})
    const ofCommand = done(await command.signIn.createLink('acme'))
    const lateOfCommand = done(await command.signIn.createLink('acme'))
    await command.close()
    rowport.clock.advanceMs(5 * minuteMs - 1)
    assert.equal(await follow(rowport, early.token), 200)
    rowport.clock.advanceMs(1)
    assert.equal(await follow(rowport, late.token), 400)
    rowport.clock.advanceMs(10 * minuteMs - 1)
    assert.equal(await follow(rowport, ofCommand.token), 200)
    rowport.clock.advanceMs(1)
    assert.equal(await follow(rowport, lateOfCommand.token), 400)
  })

  test(`${step}: the console's key is good for an hour`, async (t) => {
    const rowport = await startRowport(t)
    const { formA } = await rowport.connectFile('s', 's.csv', 'n\n1\n')
    const owner = await signedIn(rowport)
    const key = (await owner.call<{ value: string }>('POST', '/sheets/s/console-key')).json
    rowport.clock.stepMs(stepMs)
    rowport.clock.advanceMs(hourMs - 1)
    for (const path of [formA, '/v1/sheets']) assert.equal((await rowport.get(path, bearer(key))).status, 200)
    rowport.clock.advanceMs(1)
    for (const path of [formA, '/v1/sheets']) assert.equal((await rowport.get(path, bearer(key))).status, 403)
  })

  test(`${step}: the answer under a key is kept for a day`, async (t) => {
    const { rowport, sheet } = await start(t, null)
    const key = await rowport.createKey()
    const post = async () => {
      const headers = { ...bearer(key), 'Idempotency-Key': 'k' }
      const answer = await fetch(rowport.url + sheet.formA, { method: 'POST', body: '{"n":2}', headers })
      return [answer.status, answer.headers.get('idempotent-replayed')]
    }
    assert.deepEqual(await post(), [201, null])
    rowport.clock.stepMs(stepMs)
    rowport.clock.advanceMs(24 * hourMs - 1)
    assert.deepEqual(await post(), [201, 'true'])
    rowport.clock.advanceMs(1)
    assert.deepEqual(await post(), [201, null])
  })
}

test('a month that began by a wrong time is left again when the time is put right', async (t) => {
  const plan = { requestsPerMinute: null, requestsPerMonth: 2, writeApi: true }
  const rowport = await startRowport(t, { plan: 'own', settings: { plans: { own: plan } } })
  const { formA } = await rowport.connectFile('s', 's.csv', 'n\n1\n')
  const key = await rowport.createKey()
  const read = async () => {
    const { status, headers } = await rowport.get(formA, bearer(key))
    return [status, headers.get('x-quota-reset')]
  }
  const [, thisMonth] = await read()
  rowport.clock.stepMs(40 * 24 * hourMs)
  for (let n = 0; n < 2; n++) assert.equal((await read())[0], 200)
  assert.equal((await read())[0], 429)
  rowport.clock.stepMs(-40 * 24 * hourMs)
  assert.deepEqual(await read(), [200, thisMonth])
  assert.deepEqual(await read(), [429, thisMonth])
})

async function isIn(visitor: Visitor): Promise<boolean> {
  return (await visitor.call('GET', '/session')).status === 200
}

async function follow(rowport: Rowport, token: string): Promise<number> {
  return (await createVisitor(rowport).call('POST', '/sign-in-link', { token })).status
}

async function start(t: TestContext, requestsPerMinute: number | null) {
  const plan = { requestsPerMinute, requestsPerMonth: null, writeApi: true }
  const rowport = await startRowport(t, { plan: 'own', settings: { plans: { own: plan } } })
  const sheet = await rowport.connectFile('s', 's.csv', 'n\n1\n')
  const key = await rowport.createKey()
  return { rowport, sheet, read: () => rowport.get(sheet.formA, bearer(key)) }
}

async function startMoody(t: TestContext) {
  const rowport = await startRowport(t)
  const provider = createMoodyProvider()
  const { path } = await connectMoody(rowport, provider, 'moody', [['n'], [1]])
  const key = await rowport.createKey()
  const ask = () => rowport.get(path, bearer(key))
  return { rowport, provider, clock: rowport.clock, ask, fetches: () => provider.order.length }
}
