import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { billingCycleAt } from '../src/admission/billing-cycle.ts'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import { locateFile } from '../src/providers/file/file-location.ts'
import { done } from './harness.ts'
import { createLoadClient } from './load-clients.ts'
import { freshPlace, type RunningServer } from './process/running.ts'
import { times } from './soak.ts'

const quota = 1_000
const clients = 16
/** A block is at most a fiftieth of what is left. */
const largestBlock = quota / 50

test('16 clients are served the quota exactly', async (t) => {
  const { place, startLoad, charged } = await start(t)
  const server = await place.start()
  const load = startLoad(() => server)
  await load.until(() => load.refused >= clients * 5)
  await load.stop()
  await stopped(server)
  process.stdout.write(`quota ${quota}: ${load.delivered} served, ${await charged()} charged\n`)
  assert.equal(load.delivered, quota)
  assert.equal(await charged(), quota)
})

test('a server that is killed again and again never serves more than the quota', async (t) => {
  const { place, startLoad, charged } = await start(t)
  const kills = times(3, 6)
  let server: RunningServer | null = await place.start()
  const load = startLoad(() => server)
  let inFlightAtKills = 0
  for (let kill = 1; kill <= kills; kill++) {
    await load.until(() => load.delivered >= (kill * 720) / kills)
    const victim: RunningServer | null = server
    inFlightAtKills += load.inFlight
    server = null
    victim?.child.kill('SIGKILL')
    await victim?.ended
    server = await place.start()
  }
  const refusedBefore = load.refused
  await load.until(() => load.refused >= refusedBefore + clients * 5)
  await load.stop()
  await stopped(server)
  const lost = (await charged()) - load.delivered
  const mayBeLost = kills * largestBlock + inFlightAtKills
  process.stdout.write(
    `quota ${quota}, ${kills} kills: ${load.delivered} served, ${await charged()} charged, ` +
      `${lost} lost of at most ${mayBeLost} (${load.broken} requests cut off)\n`,
  )
  assert.ok(load.delivered <= quota)
  assert.equal(await charged(), quota, 'the rest was served until there was none')
  assert.ok(lost >= 0 && lost <= mayBeLost)
  assert.equal(refusedBefore, 0, 'nobody was refused while there was something left')
  assert.ok(load.broken > 0, 'the kills hit requests under way')
})

test('two servers on one store serve the quota exactly, also what one of them holds and has no use for', async (t) => {
  const { place, startLoad, charged } = await start(t)
  const [one, other] = await Promise.all([place.start(), place.start()])
  const load = startLoad((client) => (client % 2 === 0 ? one : other))
  await load.until(() => load.delivered >= quota / 3)
  const byThen = load.delivered
  // From here on only one is asked, and the other one's block has to come back.
  load.send(() => one)
  await load.until(() => load.delivered >= quota)
  const refusedMeanwhile = load.refused
  await sleep(200)
  await load.until(() => load.refused >= refusedMeanwhile + clients * 2)
  await load.stop()
  await Promise.all([stopped(one), stopped(other)])
  process.stdout.write(
    `quota ${quota}, two servers: ${byThen} served by both, ${load.delivered} in all, ` +
      `${await charged()} charged, ${refusedMeanwhile} refused until the last block came back\n`,
  )
  assert.equal(load.delivered, quota)
  assert.equal(await charged(), quota)
})

async function start(t: TestContext) {
  const place = await freshPlace(t)
  const config = parseConfig({ ROWPORT_DATA: place.dataFolder }, false)
  assert.ok(!('problems' in config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  const { accounts, sheets, keys, store } = workshop
  const file = join(place.folder, 's.csv')
  await writeFile(file, 'name\nfirst\n')
  const account = done(await accounts.create('acme', 'enterprise'))
  done(await accounts.setPlan('acme', 'enterprise', { requestsPerMinute: null, requestsPerMonth: quota }))
  const asked = { accountSlug: 'acme', sheetSlug: 's', access: 'private' as const, provider: 'file' }
  done(await sheets.connect({ ...asked, ...locateFile(file, null) }))
  const key = { accountSlug: 'acme', sheetSlug: null, name: 'load', mode: 'live', scope: 'read' } as const
  const { value: apiKey } = done(await keys.create(key))
  const stops: (() => Promise<void>)[] = []
  t.after(async () => {
    for (const stop of stops) await stop()
    await workshop.close()
  })

  return {
    place,
    async charged(): Promise<number> {
      const { startMs } = billingCycleAt(account.createdAtMs, systemClock.nowMs())
      return (await store.chargeAhead(account.id, startMs, quota, 0)).charged
    },
    startLoad(serverFor: ServerFor) {
      const load = startLoad(serverFor, apiKey)
      stops.push(load.stop)
      return load
    },
  }
}

/** null while there is none. */
type ServerFor = (client: number) => RunningServer | null

const giveUpMs = 40_000

function startLoad(firstServerFor: ServerFor, apiKey: string) {
  let serverFor = firstServerFor
  let isOver = false
  const load = {
    /** Whole answers 2xx. */
    delivered: 0,
    refused: 0,
    /** Sent, but cut off. */
    broken: 0,
    inFlight: 0,
    send(to: ServerFor) {
      serverFor = to
    },
    async until(isReached: () => boolean) {
      const giveUpAtMs = performance.now() + giveUpMs
      while (!isReached()) {
        if (performance.now() > giveUpAtMs) throw new Error(`Not reached: ${JSON.stringify(load)}`)
        await sleep(1)
      }
    },
    async stop() {
      isOver = true
      await Promise.all(asking)
    },
  }
  const asking = Array.from({ length: clients }, (_, at) => askOn(at))
  return load

  async function askOn(at: number): Promise<void> {
    const client = createLoadClient()
    while (!isOver) {
      const server = serverFor(at)
      if (!server) {
        await sleep(5)
        continue
      }
      load.inFlight++
      const answer = await client.ask({ port: server.port, path: '/api/sheets/acme/s', apiKey })
      load.inFlight--
      if (answer.status === 200) load.delivered++
      else if (answer.status === 429) {
        load.refused++
        await sleep(20)
      } else if (answer.status !== null) throw new Error(`${answer.status} ${answer.code}`)
      else if (answer.isSent) load.broken++
    }
    client.close()
  }
}

async function stopped({ child, ended }: RunningServer): Promise<void> {
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
}
