import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { done } from '../harness.ts'
import { createLoadClient } from '../load-clients.ts'
import { times } from '../soak.ts'
import { skipCluster } from './cluster.ts'
import { startProcesses } from './instances.ts'

const busyForMs = times(0, 240_000)
const burners = 6
const limit = 300

/**
 * Only in `npm run soak`, where it runs alone: in `npm test` it would take the processor away from all tests beside it.
 * There, `counting-simulation.test.ts` plays busy machines.
 */
if (busyForMs > 0) {
  test(
    'three instances on a machine with far more to do than it can: Redis is not taken for lost',
    {
      skip: skipCluster,
      timeout: busyForMs + 110_000,
    },
    holdOut,
  )
}

async function holdOut(t: TestContext): Promise<void> {
  const { workshop, apiKey, path, start } = await startProcesses(t)
  const limits = { requestsPerMinute: limit, requestsPerMonth: null }
  done(await workshop.accounts.setPlan('acme', 'enterprise', limits))
  const servers = [await start(), await start(), await start()]
  for (let n = 0; n < burners; n++) burn(t)
  let admitted = 0
  let asked = 0
  const statuses = new Set<number | null>()
  const endMs = performance.now() + busyForMs
  await Promise.all(
    servers.map(async ({ url }) => {
      const client = createLoadClient()
      while (performance.now() < endMs) {
        const { status } = await client.ask({ port: Number(new URL(url).port), path, apiKey })
        statuses.add(status)
        asked++
        if (status === 200) admitted++
        await sleep(20)
      }
      client.close()
    }),
  )
  const moves = (await Promise.all(servers.map(({ url }) => movesAt(url)))).reduce(
    (sum, each) => sum + each,
    0,
  )
  process.stdout.write(
    `busy: ${busyForMs / 1_000} s with ${burners} processes that only compute (load ${loadavg()[0]?.toFixed(1)}), ` +
      `${asked} requests on 3 instances, ${admitted} let through at ${limit} a minute: ${moves} moves\n`,
  )
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 429),
    [],
  )
  assert.equal(moves, 0)
}

/** Ends by itself, also when nobody is left to end it. */
function burn(t: TestContext): ChildProcess {
  const source = `const end = Date.now() + ${busyForMs + 5_000}; while (Date.now() < end);`
  const child = spawn(process.execPath, ['-e', source], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  return child
}

async function movesAt(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^rowport_rate_windows_moved_total\{to="store"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
}
