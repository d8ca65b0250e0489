import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { bearer, done, startRowport } from '../harness.ts'
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
