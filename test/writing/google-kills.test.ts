import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedCall } from '../../emulator/call-log.ts'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { startGoogleProcess } from '../google/google-process.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { patienceMs, times } from '../soak.ts'
import { connectOwner, googleClient, owner } from './google-ground.ts'
import { createPlainClient } from './plain-client.ts'

const kills = times(10, 130)
const clients = 40
const acknowledgedForEachKill = 51
/** A crowded machine starts servers slowly: then there are fewer kills, and the figures say how many. */
const enoughMs = times(90_000, 1_200_000)
const fewestKills = 4
const latencyMs = 40
/** docs/reliability.md#r1. */
const resolvedWithinMs = 5_000
/** Each takes six of the 60 reads that Google allows in a minute. With none left, what is open is settled when it allows more. */
const killEveryMs = 9_000

test(`kill -9 again and again in the middle of writes to Google: what was acknowledged is there once`, {
  timeout: patienceMs,
}, async (t) => {
  const { place, sending, googleCalls, env, apiKey, rows } = await start(t)
  const random = seededRandom(20_261_116)
  let server: RunningServer | null = await place.start({ env })
  const acknowledged = new Set<string>()
  const asked = new Set<string>()
  const seen = { replays: 0, broken: 0, openAtKills: 0, slowestMs: 0 }
  let isOver = false
  let isResting = false
  t.after(() => {
    isOver = true
  })
  const writing = Array.from({ length: clients }, (_, at) => writeOn(at))
  const enoughAtMs = performance.now() + enoughMs
  let killed = 0
  let lastCall = 0

  while (killed < kills && (killed < fewestKills || performance.now() < enoughAtMs)) {
    while (acknowledged.size < (killed + 1) * acknowledgedForEachKill) await sleep(1)
    killed++
    const victim: RunningServer = server ?? assert.fail()
    // Every other one while a write is on its way to Google, the rest at any moment.
    if (killed % 2 === 0) await stopWhileSending(victim)
    else await sleep(random() * 60)
    server = null
    const killedMs = performance.now()
    victim.child.kill('SIGKILL')
    await victim.ended
    const open = await sending()
    seen.openAtKills += open.length
    const begun: RunningServer = await place.start({ env })
    const restartedMs = performance.now()
    server = begun
    for (;;) {
      const left = new Set(await sending())
      if (!open.some((id) => left.has(id))) break
      assert.ok(performance.now() - restartedMs < resolvedWithinMs, 'something stays open')
      await sleep(5)
    }
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - restartedMs)
    isResting = true
    await sleep(Math.max(0, killedMs + killEveryMs - performance.now()))
    isResting = false
  }
  isOver = true
  await Promise.all(writing)
  server?.child.kill('SIGTERM')
  assert.equal((await server?.ended)?.code, 0)

  const found = Map.groupBy(await rows(), (id) => id)
  const lost = [...acknowledged].filter((id) => !found.has(id))
  const doubled = [...found].filter(([, times]) => times.length > 1)
  const unasked = [...found.keys()].filter((id) => !asked.has(id))
  t.diagnostic(
    `${killed} kills, ${acknowledged.size} rows acknowledged: ${lost.length} lost, ${doubled.length} doubled; ` +
      `${seen.broken} requests cut off, ${seen.openAtKills} operations open at a kill, resolved at most ` +
      `${seen.slowestMs.toFixed(0)} ms after the start, ${seen.replays} replays`,
  )
  assert.deepEqual([lost, doubled, unasked], [[], [], []])
  assert.equal(found.size, acknowledged.size, 'everyone came again until they knew')
  assert.ok(acknowledged.size >= killed * acknowledgedForEachKill)
  assert.ok(seen.broken > 0 && seen.openAtKills > 0 && seen.replays > 0, 'the kills hit writes under way')
  assert.deepEqual(await sending(), [])

  /** Stopped, it cannot move on: what is open then is what the kill will leave, and Google does it all the same. */
  async function stopWhileSending({ child }: RunningServer): Promise<void> {
    for (;;) {
      const write = await nextWrite()
      await sleep(random() * 20)
      child.kill('SIGSTOP')
      await isAnswered(write)
      if ((await sending()).length > 0) return
      child.kill('SIGCONT')
    }
  }

  /** Of which Google has heard: on a crowded machine a write may stand in the journal for long before that. */
  async function nextWrite(): Promise<LoggedCall> {
    for (;;) {
      const write = (await googleCalls(lastCall)).find(
        ({ kind, status }) => kind === 'write' && status === null,
      )
      if (write) return write
      await sleep(1)
    }
  }

  async function isAnswered({ number }: LoggedCall): Promise<void> {
    while ((await googleCalls(number - 1))[0]?.status === null) await sleep(1)
    lastCall = number
  }

  async function writeOn(client: number): Promise<void> {
    const { send, close } = createPlainClient(apiKey)
    for (let n = 0; !isOver; n++) {
      const id = `${client}-${n}`
      asked.add(id)
      while (!acknowledged.has(id) && !(isOver && t.signal.aborted)) {
        while (isResting) await sleep(10)
        const heard =
          server && (await send(`${server.url}/api/sheets/acme/s`, 'POST', JSON.stringify({ id }), id))
        if (heard?.isReplay) seen.replays++
        if (heard?.status === 201) acknowledged.add(id)
        else if (heard && heard.status !== null) {
          assert.ok([409, 502, 503].includes(heard.status), `${heard.status} ${heard.body}`)
        } else if (heard) seen.broken++
        if (heard?.status !== 201) await sleep(10)
      }
    }
    close()
  }
})

async function start(t: TestContext) {
  const google = await startGoogleProcess(t, { latencyMs })
  const { spreadsheetId, refreshToken } = await google.newSpreadsheet(owner, [['id']])
  const place = await freshPlace(t)
  const env = {
    ROWPORT_DATA: place.dataFolder,
    GOOGLE_CLIENT_ID: googleClient.clientId,
    GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
    GOOGLE_SCOPE: googleClient.scope,
    GOOGLE_ENDPOINT: google.url,
  }
  const config = parseConfig(env, false)
  assert.ok(!('problems' in config), JSON.stringify(config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  t.after(() => workshop.close())
  const { accounts, sheets, keys, store, sealing } = workshop
  const account = done(await accounts.create('acme', 'enterprise'))
  const credentialId = await connectOwner(store, sealing, account.id, refreshToken)
  const tab = locateGoogleTab({ spreadsheetId, tabId: 0 })
  const asked = { accountSlug: 'acme', sheetSlug: 's', access: 'private' as const, provider: 'google' }
  done(await sheets.connect({ ...asked, credentialId, ...tab }))
  const wish = {
    accountSlug: 'acme',
    sheetSlug: null,
    name: 'kills',
    mode: 'live',
    scope: 'read-write',
  } as const
  const { value: apiKey } = done(await keys.create(wish))
  return {
    place,
    env,
    apiKey,
    sending: async () => (await store.sendingOperations(tab.source)).map(({ id }) => id),
    googleCalls: async (since: number) =>
      (await google.control<{ calls: LoggedCall[] }>('GET', `calls?since=${since}`)).calls,
    rows: async () => (await google.cells(spreadsheetId)).slice(1).map(([id]) => String(id)),
  }
}
