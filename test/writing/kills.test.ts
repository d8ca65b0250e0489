import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorkshop } from '../../src/assemble/open-workshop.ts'
import { systemClock } from '../../src/clock.ts'
import { parseConfig } from '../../src/config.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { done } from '../harness.ts'
import { freshPlace, type RunningServer } from '../process/running.ts'
import { patienceMs, times } from '../soak.ts'
import { createPlainClient } from './plain-client.ts'
import { createRandom } from './simulation/virtual-time.ts'

/** docs/reliability.md#r1. */
const kills = times(20, 300)
const clients = 16
const acknowledgedForEachKill = 51
/** On a machine that others use as well, starting takes its time. */
const giveUpMs = patienceMs - 10_000
/** docs/reliability.md#r1. */
const resolvedWithinMs = 5_000

test('kill -9 again and again in the middle of additions: what was acknowledged is there once', {
  timeout: patienceMs,
}, async (t) => {
  const { place, store, file, source, apiKey } = await start(t)
  const random = createRandom(20_261_115)
  let server: RunningServer | null = await place.start()
  const history = { acknowledged: new Set<string>(), unknown: new Set<string>(), refused: new Set<string>() }
  const seen = { replays: 0, broken: 0, openAtKills: 0, slowestMs: 0 }
  let isOver = false
  let isGivenUp = false
  t.after(() => {
    isOver = true
    isGivenUp = true
  })
  const writing = Array.from({ length: clients }, (_, at) => writeOn(at))
  const giveUpAtMs = performance.now() + giveUpMs

  for (let kill = 1; kill <= kills; kill++) {
    while (history.acknowledged.size < kill * acknowledgedForEachKill) {
      assert.ok(performance.now() < giveUpAtMs, `only ${history.acknowledged.size} acknowledged`)
      await sleep(1)
    }
    const victim: RunningServer = server ?? assert.fail()
    // In turns: at any moment, with a write that is not in the file yet, at any moment, with one that is and nobody told.
    if (kill % 2 === 0) await stopWhileSending(victim, kill % 4 === 0)
    else await sleep(random() * 50)
    server = null
    victim.child.kill('SIGKILL')
    await victim.ended
    const open = (await store.sendingOperations(source)).map(({ id }) => id)
    seen.openAtKills += open.length
    const begun: RunningServer = await place.start()
    const restartedMs = performance.now()
    server = begun
    for (;;) {
      const left = new Set((await store.sendingOperations(source)).map(({ id }) => id))
      if (!open.some((id) => left.has(id))) break
      assert.ok(performance.now() - restartedMs < resolvedWithinMs, 'something stays open')
      await sleep(5)
    }
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - restartedMs)
  }
  isOver = true
  await Promise.all(writing)
  server?.child.kill('SIGTERM')
  assert.equal((await server?.ended)?.code, 0)

  const [, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const ids = lines.map((line) => line.split(',')[0] ?? '')
  const found = Map.groupBy(ids, (id) => id)
  const timesOf = (id: string) => found.get(id)?.length ?? 0
  const lost = [...history.acknowledged].filter((id) => timesOf(id) === 0)
  const doubled = [...found.keys()].filter((id) => timesOf(id) > 1)
  const unasked = [...found.keys()].filter((id) => !history.acknowledged.has(id) && !history.unknown.has(id))
  const left = (await readdir(place.folder)).filter((name) => name.endsWith('.tmp'))
  process.stdout.write(
    `${kills} kills, ${history.acknowledged.size} acknowledged: ${lost.length} lost, ${doubled.length} doubled; ` +
      `${seen.broken} requests cut off, ${seen.openAtKills} operations open at a kill, all resolved at most ` +
      `${seen.slowestMs.toFixed(0)} ms after the restart, ${seen.replays} replays, ` +
      `${history.unknown.size} never asked again (${[...history.unknown].filter((id) => timesOf(id) === 1).length} there)\n`,
  )
  assert.deepEqual([lost, doubled, unasked], [[], [], []])
  assert.ok([...history.refused].every((id) => timesOf(id) === 0))
  assert.ok(history.acknowledged.size >= kills * acknowledgedForEachKill)
  assert.ok(seen.broken > 0 && seen.openAtKills > 0 && seen.replays > 0, 'the kills hit writes under way')
  assert.deepEqual(await store.sendingOperations(source), [])
  assert.ok(left.length <= kills, `${left.length} temporary files were left`)

  /** Stopped, it cannot move on: what is seen then is what the kill will leave. */
  async function stopWhileSending({ child }: RunningServer, isDone: boolean): Promise<void> {
    for (;;) {
      while ((await store.sendingOperations(source)).length === 0) await sleep(1)
      child.kill('SIGSTOP')
      await sleep(5)
      const [open] = await store.sendingOperations(source)
      // As long as the temporary file that is its fence is there, it is not done.
      if (open?.fence && existsSync(join(place.folder, open.fence)) !== isDone) return
      child.kill('SIGCONT')
      await sleep(1 + random() * 5)
    }
  }

  /** Most come again until they know; a few never do, and some ask for what is refused. */
  async function writeOn(client: number): Promise<void> {
    const { send, close } = createPlainClient(apiKey)
    for (let n = 0; !isOver; n++) {
      const id = `${client}-${n}`
      const isBad = n % 15 === 7
      const comesAgain = n % 10 !== 3
      const body = JSON.stringify(isBad ? { id, nothing: 1 } : { id })
      while (!isGivenUp) {
        if (!server) {
          await sleep(5)
          continue
        }
        const { status, isReplay } = await send(`${server.url}/api/sheets/acme/s`, 'POST', body, id)
        if (isReplay) seen.replays++
        if (status === 201) history.acknowledged.add(id)
        else if (status === 400) history.refused.add(id)
        else if (status === null && !comesAgain) history.unknown.add(id)
        else {
          assert.ok(status === null || status === 409 || status === 503, `${status}`)
          if (status === null) seen.broken++
          await sleep(5)
          continue
        }
        break
      }
    }
    close()
  }
})

async function start(t: TestContext) {
  const place = await freshPlace(t)
  const config = parseConfig({ ROWPORT_DATA: place.dataFolder }, false)
  assert.ok(!('problems' in config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  t.after(() => workshop.close())
  const { accounts, sheets, keys, store } = workshop
  const file = join(place.folder, 's.csv')
  // Two columns: rows are added to such a file without reading it again.
  await writeFile(file, 'id,note\n')
  done(await accounts.create('acme', 'enterprise'))
  const asked = { accountSlug: 'acme', sheetSlug: 's', access: 'private' as const, provider: 'file' }
  const { source } = done(await sheets.connect({ ...asked, ...locateFile(file, null) }))
  const key = {
    accountSlug: 'acme',
    sheetSlug: null,
    name: 'kills',
    mode: 'live',
    scope: 'read-write',
  } as const
  const { value: apiKey } = done(await keys.create(key))
  return { place, store, file, source, apiKey }
}
