import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { startLocalGoogle } from '../emulator/harness.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { googleAt } from '../writing/google-ground.ts'

const apiKey = 'AIza-the-key-of-this-server'
const busySheets = 60
const lookMs = 1_000
const looks = 6

test('while one account keeps sixty sheets in demand that are read with the API key, another’s only such sheet is read without an error', async (t) => {
  const { rowport, local, newSheet } = await startWithKey(t)
  done(await rowport.workshop.accounts.create('small', 'enterprise'))
  const busy = await Promise.all(
    Array.from({ length: busySheets }, (_, at) => newSheet('acme', `sheet-${at}`)),
  )
  const own = await newSheet('small', 'prices')
  const keys = {
    acme: bearer(await rowport.createKey()),
    small: bearer(await rowport.createKey({ account: 'small' })),
  }
  const callsBefore = await readsAtGoogle()

  const over = new AbortController()
  const { signal } = over
  let busyReads = 0
  const demanding = busy.map(async (path) => {
    const asked = { headers: { ...keys.acme, 'Cache-Control': 'no-cache' }, signal }
    while (!signal.aborted) {
      const status = await fetch(rowport.url + path, asked).then(
        (answer) => answer.status,
        () => null,
      )
      if (status === 200) busyReads++
      else await sleep(500)
    }
  })
  // What is given at once of a minute is used up by then, and the rest comes one by one.
  await sleep(2_000)
  const answers: { status: number; tookMs: number }[] = []
  for (let look = 0; look < looks; look++) {
    const startMs = performance.now()
    const answer = await rowport.get(own, { ...keys.small, 'Cache-Control': 'no-cache' })
    await answer.arrayBuffer()
    answers.push({ status: answer.status, tookMs: Math.round(performance.now() - startMs) })
    await sleep(lookMs)
  }
  over.abort()
  await Promise.all(demanding)

  const told = answers.map(({ status, tookMs }) => `${status} in ${tookMs} ms`).join(', ')
  t.diagnostic(`${told}; the other account: ${busyReads} reads`)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), told)
  // A read may be two calls, and each waits for two places at most: every other one is the other account's.
  assert.ok(Math.max(...answers.map(({ tookMs }) => tookMs)) <= 12_000, told)
  const { calls } = await local.control<{ calls: { status: number | null }[] }>('GET', 'calls')
  assert.ok(calls.length - callsBefore > 31, 'more was asked for than is given at once')
  assert.ok(!calls.some(({ status }) => status === 429), 'and Google refused nothing')

  async function readsAtGoogle(): Promise<number> {
    return (await local.control<{ calls: unknown[] }>('GET', 'calls')).calls.length
  }
})

test('where the API key allows fewer reads than cache_seconds asks for, rows are older and nobody gets an error', async (t) => {
  const { rowport, newSheet } = await startWithKey(t)
  const slugs = Array.from({ length: 32 }, (_, at) => `sheet-${at}`)
  const paths = await Promise.all(slugs.map((slug) => newSheet('acme', slug)))
  for (const slug of slugs) done(await rowport.workshop.sheets.change('acme', slug, { cacheSeconds: 1 }))
  const headers = bearer(await rowport.createKey())
  const statuses = await Promise.all(paths.map(async (path) => (await rowport.get(path, headers)).status))
  assert.deepEqual(new Set(statuses), new Set([200]))

  const told = new Set<string>()
  for (let round = 0; round < 5; round++) {
    await sleep(1_000)
    const answers = await Promise.all(paths.map((path) => rowport.get(path, headers)))
    for (const { status, headers: its } of answers)
      told.add(`${status} ${/refresh-waits/.exec(its.get('cache-status') ?? '') ?? ''}`)
  }
  assert.ok(told.has('200 refresh-waits'), [...told].join(', '))
  assert.ok(
    [...told].every((each) => each.startsWith('200')),
    [...told].join(', '),
  )
})

/** Time passes by itself on both sides: what is waited for here is a ration. */
async function startWithKey(t: TestContext) {
  const local = await startLocalGoogle(t, { nowMs: Date.now })
  await local.control('POST', 'api-keys', { key: apiKey })
  await local.control('POST', 'settings', { quotas: true, latencyMs: 100 })
  const google = { ...googleAt(local.url), apiKey }
  const rowport = await startRowport(t, { settings: { google }, isTimePassing: true })
  return {
    rowport,
    local,
    async newSheet(accountSlug: string, sheetSlug: string): Promise<string> {
      const tabs = [{ title: 'Items', values: [['name'], ['tea']] }]
      const asked = { title: sheetSlug, owner: 'ada@example.com', tabs }
      const { spreadsheetId } = await local.control<{ spreadsheetId: string }>('POST', 'spreadsheets', asked)
      await local.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' })
      const place = { ...locateGoogleTab({ spreadsheetId, tabId: 0 }), credentialId: null }
      const sheet = { accountSlug, sheetSlug, access: 'private', provider: 'google' } as const
      done(await rowport.workshop.sheets.connect({ ...sheet, ...place }))
      return `/api/sheets/${accountSlug}/${sheetSlug}`
    },
  }
}
