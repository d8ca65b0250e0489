import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { mostOfPackage, pack, settingsOfStart } from '../test/memory/packed.ts'
import { curveOf, sampleMemory } from '../test/memory/server-memory.ts'
import { startTraffic } from '../test/memory/steady-traffic.ts'
import { startThreeSheets } from '../test/memory/three-sheets.ts'
import { atMost } from './floored.ts'
import { type FigureRow, type Measured, withEnds } from './row.ts'

const rows = 300
const requestsPerSecond = 25
const idleMs = 30_000
const busyMs = Number(process.env.MEMORY_SECONDS ?? 120) * 1_000
const sampleEveryMs = 2_000

/** The short form of `npm run soak -- memory/memory`, which also tells in 40 minutes whether it grows. */
export const memory: FigureRow = {
  kind: 'figure',
  name: 'memory of the package, three small sheets, 25 requests a second',
  missing: existsSync('/proc/self/status') ? [] : ['/proc'],
  measure: () => withEnds(measure),
}

async function measure(after: (end: () => Promise<void>) => void): Promise<Measured> {
  const installed = await pack({ after })
  const sheets = await startThreeSheets({ after }, { rows, env: settingsOfStart(), installed })
  const { child, url } = sheets.server
  const sample = (atMs: number) => sampleMemory(child.pid ?? 0, url, atMs)
  await sleep(idleMs)
  const idle = await sample(0)
  const traffic = startTraffic(sheets, rows, requestsPerSecond)
  const samples = []
  const begunMs = performance.now()
  for (let atMs = 0; atMs < busyMs; atMs = performance.now() - begunMs) {
    await sleep(sampleEveryMs)
    samples.push(await sample(performance.now() - begunMs))
  }
  await traffic.stop()
  const highestMb = Math.max(...samples.map(({ residentMb }) => residentMb))
  const answers = [...traffic.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  const said = [
    `idle          ${idle.residentMb.toFixed(0)} MB`,
    `highest       ${highestMb.toFixed(0)} MB in ${busyMs / 1_000} s; answers: ${answers}`,
    ...curveOf(samples, busyMs / 4)
      .trimEnd()
      .split('\n'),
  ].join('\n  ')
  return {
    said,
    floored: [
      atMost('resident, idle', idle.residentMb, mostOfPackage.idleMb, 'MB'),
      atMost('resident, three sheets in use', highestMb, mostOfPackage.residentMb, 'MB'),
      atMost('500s', traffic.statuses.get(500) ?? 0, 0),
    ],
  }
}
