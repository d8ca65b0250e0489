import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEmulator } from '../../emulator/server.ts'
import { createGoogle } from '../../src/providers/google/google.ts'
import { callLimits } from '../../src/providers/remote/remote-calls.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import type { ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { createMemoryCredentials, sealing } from './memory-credentials.ts'
import { createVirtualTime } from './virtual-time.ts'

const patient = { ...callLimits, readMs: 900_000 }

/** Google and our side share a clock that runs far ahead of the machine's, while calls really travel between them. */
async function start(t: TestContext, owners: readonly string[]) {
  const time = createVirtualTime()
  const emulator = await createEmulator({ nowMs: time.clock.nowMs })
  t.after(() => emulator.close())
  const control = async (method: string, path: string, body?: unknown) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    return (await fetch(`${emulator.url}/_control/${path}`, init)).json() as Promise<Record<string, unknown>>
  }
  const credentials = createMemoryCredentials()
  const google = createGoogle({
    settings: {
      client: { clientId: 'shop', clientSecret: 'any' },
      endpoint: emulator.url,
      scope: 'spreadsheets',
    },
    store: credentials,
    share: createOwnValues(time.clock),
    sealing,
    clock: time.clock,
    timers: time.timers,
    observe: () => {},
    random: () => 0.5,
    callLimits: patient,
  })
  t.after(() => google.close())
  const sheets: { credentialId: string; spreadsheetId: string }[] = []
  for (const owner of owners) {
    const { refresh_token } = await control('POST', 'tokens', { user: owner })
    const credentialId = credentials.connect({ subject: owner, refreshToken: String(refresh_token) })
    const { spreadsheetId } = await control('POST', 'spreadsheets', { title: 'Shop', owner })
    sheets.push({ credentialId, spreadsheetId: String(spreadsheetId) })
  }
  await control('POST', 'settings', { quotas: true })

  return {
    time,
    root: emulator.url,
    google,
    sheets,
    /** Lets virtual time run until all is done; how long that took, and the statuses that Google gave. */
    async untilDone(work: readonly Promise<unknown>[]) {
      const startMs = time.clock.elapsedMs()
      let isDone = false
      const all = Promise.all(work).finally(() => {
        isDone = true
      })
      while (!isDone) {
        await sleep(1)
        await time.pass(200)
      }
      await all
      const { calls } = (await control('GET', 'calls')) as { calls: { kind: string; status: number }[] }
      const statuses = calls.filter(({ kind }) => kind === 'read').map(({ status }) => status)
      return { tookMs: time.clock.elapsedMs() - startMs, statuses }
    },
  }
}

test('two hundred reads of one owner earn no refusal, and take no longer than the ration makes them', async (t) => {
  const { google, sheets, untilDone } = await start(t, ['ada@example.com'])
  const [sheet] = sheets
  assert.ok(sheet)
  const read = () => google.files.listTabs(sheet.credentialId, sheet.spreadsheetId)
  const { statuses, tookMs } = await untilDone(Array.from({ length: 200 }, read))
  assert.equal(statuses.length, 200)
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.ok(tookMs < 220_000, `${tookMs} ms for 200 reads at 60 a minute`)
  t.diagnostic(`200 reads, 0 × 429, ${Math.round(tookMs / 1_000)} s of Google's time`)
})

test('many owners together stay inside the ration of the project', async (t) => {
  const owners = Array.from({ length: 12 }, (_, at) => `owner${at}@example.com`)
  const { google, sheets, untilDone } = await start(t, owners)
  const reads = sheets.flatMap(({ credentialId, spreadsheetId }) =>
    Array.from({ length: 35 }, () => google.files.listTabs(credentialId, spreadsheetId)),
  )
  const { statuses, tookMs } = await untilDone(reads)
  assert.equal(statuses.length, 420)
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.ok(tookMs < 110_000, `${tookMs} ms for 420 reads at 300 a minute`)
})

test('what another program spends of the same ration is noticed, and Google is not pestered', async (t) => {
  const { google, sheets, untilDone, time, root } = await start(t, ['ada@example.com'])
  const [sheet] = sheets
  assert.ok(sheet)
  // Our budget does not count what goes to Drive, but Google sees a read of Sheets.
  const url = `${root}/v4/spreadsheets/${sheet.spreadsheetId}`
  const pastTheBudget = () => google.calls.callRead({ ...sheet, method: 'GET', service: 'drive', url })
  await untilDone(Array.from({ length: 45 }, pastTheBudget))
  const read = () => google.files.listTabs(sheet.credentialId, sheet.spreadsheetId)
  const failures: ProviderFailure[] = []
  const many = Array.from({ length: 40 }, () => read().catch((error) => failures.push(error)))
  const { statuses } = await untilDone(many)
  assert.ok(failures.every(({ facts, message }) => facts.isPassing && /quota/.test(message)))
  const refusals = statuses.filter((status) => status === 429).length
  assert.ok(refusals > 0 && refusals <= 40, `${refusals} refusals`)
  await time.pass(60_000)
  await untilDone([read()])
})
