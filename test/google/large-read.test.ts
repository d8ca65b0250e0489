import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/clock.ts'
import { createGoogle } from '../../src/providers/google/google.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import { createDecoding } from '../../src/sheets/reading/decoding.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { createMemoryCredentials, sealing } from './memory-credentials.ts'

const rows = 100_000
const columns = 10
const mostBlockedMs = 50

/** In a process of its own: it would block this one by making the answers. */
async function startGoogleApart(t: TestContext): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'large-google.ts'), String(rows)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return said.toString().trim()
}

test('a hundred thousand rows of ten columns are read without holding up the server', async (t) => {
  const url = await startGoogleApart(t)
  const control = async (path: string, body: unknown) => {
    const answer = await fetch(`${url}/_control/${path}`, { method: 'POST', body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, string>
  }
  const { refresh_token = '' } = await control('tokens', { user: 'ada@example.com' })
  const credentials = createMemoryCredentials()
  const credentialId = credentials.connect({ subject: 'ada', refreshToken: refresh_token })
  const google = createGoogle({
    settings: { client: { clientId: 'shop', clientSecret: 'any' }, endpoint: url, scope: 'drive.file' },
    store: credentials,
    sealing,
    share: createOwnValues(systemClock),
    clock: systemClock,
    observe: () => {},
  })
  const decoding = createDecoding({ observe: () => {} })
  t.after(async () => {
    await google.close()
    await decoding.close()
  })
  const listed = await google.files.listSpreadsheets(credentialId)
  assert.ok(listed !== 'not_allowed')
  const spreadsheetId = listed.spreadsheets[0]?.spreadsheetId ?? ''
  const { tabs } = await google.files.listTabs(credentialId, spreadsheetId)
  const { location } = locateGoogleTab({ spreadsheetId, tabId: tabs[0]?.tabId ?? 0 })

  const read = async () => {
    const place = { accountId: 'acc_ada', location, credentialId }
    const wish = { values: 'typed', knownVersion: null } as const
    const decoded = await decoding.decode(place.accountId, (turn) => google.provider.fetch(place, wish, turn))
    assert.ok(decoded !== 'unchanged')
    return decoded.indexed
  }
  // The first read of a process also compiles what it needs and starts the threads.
  await read()
  const { result, longestMs, latestMs } = await holdsOfTwo(
    () => withTicker(read),
    ({ longestMs: ms }) =>
      ms <= mostBlockedMs ? null : `the event loop stood still for ${Math.round(ms)} ms`,
  )
  assert.equal(result.rowNumbers.length, rows)
  assert.equal(result.columns.length, columns)
  const first = JSON.parse(Buffer.from(result.listJson.slice(1, (result.rowStarts[1] ?? 1) - 1)).toString())
  assert.equal(first.when, '2026-11-15')
  t.diagnostic(`longest block ${Math.round(longestMs)} ms of work, ${Math.round(latestMs)} ms by the clock`)
})

/**
 * The longest that a timer of five milliseconds was late while `work` ran. On a crowded machine the whole process has
 * to wait for its turn; so only as much counts as this thread had work for the processor.
 */
async function withTicker<T>(work: () => Promise<T>) {
  let isRunning = true
  let longestMs = 0
  let latestMs = 0
  const ticking = (async () => {
    while (isRunning) {
      const beforeMs = performance.now()
      const before = process.threadCpuUsage()
      await sleep(5)
      const { user, system } = process.threadCpuUsage(before)
      const lateMs = performance.now() - beforeMs - 5
      latestMs = Math.max(latestMs, lateMs)
      longestMs = Math.max(longestMs, Math.min(lateMs, (user + system) / 1_000))
    }
  })()
  const result = await work()
  isRunning = false
  await ticking
  return { result, longestMs, latestMs }
}
