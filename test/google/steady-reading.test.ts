import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { googleRations } from '../../src/providers/google/client/google-budget.ts'
import { bearer, done } from '../harness.ts'
import { startGoogleGround } from '../writing/google-ground.ts'

/** One step of the time that both sides live in, and what it takes in ours: a minute is over in a few seconds. */
const stepMs = 100
const realStepMs = 4
const latencyMs = 300
const requestsPerStep = 10
const minuteMs = 60_000

const texts = [['name'], ['tea'], ['jam']]
const numbers = [
  ['name', 'price'],
  ['tea', 3],
]

test('a minute of 100 requests a second: no error, and no more reads at Google than cache_seconds asks for', async (t) => {
  const cacheSeconds = 10
  const { askForAMinute, reads, refusals } = await startSteadily(t, numbers, cacheSeconds)
  const answers = await askForAMinute(requestsPerStep)
  assert.equal(answers.length, 6_000)
  const right = '[{"name":"tea","price":3}]'
  assert.deepEqual(
    answers.filter(({ status, body }) => status !== 200 || body !== right),
    [],
  )
  const oldest = Math.max(...answers.map(({ ageSeconds }) => ageSeconds))
  assert.ok(oldest <= cacheSeconds, `rows were ${oldest} s old`)
  const count = await reads()
  t.diagnostic(`${count} reads`)
  assert.ok(count > 60 / (cacheSeconds + 5) && count <= 60 / cacheSeconds + 1, `${count} reads in a minute`)
  assert.equal(await refusals(), 0)
})

test('where Google allows fewer reads than cache_seconds asks for, rows are older and nobody gets an error', async (t) => {
  const { askForAMinute, reads, refusals } = await startSteadily(t, texts, 1, { others: 3 })
  const answers = await askForAMinute(1)
  assert.ok(answers.every(({ status }) => status === 200))
  assert.ok(
    answers.some(({ cacheStatus, ageSeconds }) => cacheStatus.includes('refresh-waits') && ageSeconds > 1),
  )
  const count = await reads()
  t.diagnostic(`${count} reads`)
  assert.ok(count <= googleRations.perUser.read, `${count} reads in a minute`)
  assert.equal(await refusals(), 0)
})

test('a thousand clients at once on a cold sheet are one read at Google', async (t) => {
  for (const values of [texts, numbers]) {
    const { ask, reads, fetches } = await startSteadily(t, values, 10)
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => ask()))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(fetches(), 1)
    assert.equal(await reads(), 1)
  }
})

interface Answer {
  status: number
  body: string
  ageSeconds: number
  cacheStatus: string
}

/** Rowport and a local Google that is as slow and as stingy as the real one; both live by the clock that the test moves. */
async function startSteadily(
  t: TestContext,
  values: readonly (readonly unknown[])[],
  cacheSeconds: number,
  { others = 0 } = {},
) {
  const { rowport, local, newSheet } = await startGoogleGround(t, { rations: googleRations, speed: 0 })
  const slugs = ['s', ...Array.from({ length: others }, (_, n) => `other-${n}`)]
  for (const slug of slugs) {
    await newSheet(slug, values)
    done(await rowport.workshop.sheets.change('acme', slug, { cacheSeconds }))
  }
  const headers = bearer(await rowport.createKey())
  await local.control('POST', 'settings', { latencyMs: (latencyMs / stepMs) * realStepMs, quotas: true })
  const callsAlready = (await callsNow()).length

  async function callsNow() {
    const { calls } = await local.control<{
      calls: { kind: string; service: string; status: number | null }[]
    }>('GET', 'calls')
    return calls
  }

  // Half the work of `fetch`, and there are thousands.
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  function ask(slug = 's'): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    get(`${rowport.url}/api/sheets/acme/${slug}`, { headers, agent }, async (response) => {
      const body = await text(response)
      const { age, 'cache-status': cacheStatus } = response.headers
      const ageSeconds = Number(age)
      resolve({ status: response.statusCode ?? 0, body, ageSeconds, cacheStatus: String(cacheStatus) })
    }).on('error', ({ message }) => resolve({ status: 0, body: message, ageSeconds: 0, cacheStatus: '' }))
    return promise
  }

  return {
    ask,
    async askForAMinute(perStep: number) {
      const answers: Answer[] = []
      let asked = 0
      for (let ms = 0; ms < minuteMs || answers.length < asked; ms += stepMs) {
        for (const slug of ms < minuteMs ? slugs : []) {
          for (let n = 0; n < perStep; n++, asked++) ask(slug).then((answer) => answers.push(answer))
        }
        await sleep(realStepMs)
        rowport.clock.advanceMs(stepMs)
        local.clock.advanceMs(stepMs)
      }
      return answers
    },
    async reads() {
      const calls = (await callsNow()).slice(callsAlready)
      return calls.filter(({ kind, service }) => kind === 'read' && service === 'sheets').length
    },
    async refusals() {
      return (await callsNow()).filter(({ status }) => status === 429).length
    },
    fetches: () => rowport.seen.filter(({ event }) => event === 'sheet_fetched').length,
  }
}
