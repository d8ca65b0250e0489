import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFolder } from '../process/running.ts'
import { patienceMs, times } from '../soak.ts'
import { mostOfPackage, pack, settingsOfStart } from './packed.ts'
import { curveOf, growthMbPerTenMinutes, type MemorySample, sampleMemory } from './server-memory.ts'
import { startTraffic } from './steady-traffic.ts'
import { startThreeSheets } from './three-sheets.ts'

const rows = 300
const minuteMs = 60_000
const spanMs = 5 * minuteMs
/** Growth is judged over the end of the run, when V8 has compiled what it compiles. */
const judgedMs = 20 * minuteMs
const mostGrowthMbPerTenMinutes = 1
/** In the soak, of the package that people install; a clone also holds what strips types. */
const mostResidentMb = times(350, mostOfPackage.residentMb)
const mostIdleMb = times(250, mostOfPackage.idleMb)

// A soak takes 40 minutes, or MEMORY_SOAK_MINUTES. In `npm test` more requests come in less time, to fill what fills.
const isSoak = times(0, 1) === 1
const totalMs = isSoak ? Number(process.env.MEMORY_SOAK_MINUTES ?? 40) * minuteMs : 15_000
const warmMs = Math.min(10 * minuteMs, totalMs / 2)
const sampleEveryMs = times(1_000, 10_000)
const requestsPerSecond = times(100, 25)

const skip = existsSync('/proc/self/status') ? false : 'resident memory is read from /proc'

test('three small sheets under steady reads and writes take a bounded memory', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const env = settingsOfStart()
  const sheets = await startThreeSheets(t, { rows, env, installed: isSoak ? await pack(t) : undefined })
  const { child, url } = sheets.server
  await sleep(times(1_000, 30_000))
  const idle = await sampleMemory(child.pid ?? 0, url, 0)
  const traffic = startTraffic(sheets, rows, requestsPerSecond)
  const samples: MemorySample[] = []
  const begunMs = performance.now()
  for (let atMs = 0; atMs < totalMs; atMs = performance.now() - begunMs) {
    await sleep(sampleEveryMs)
    samples.push(await sampleMemory(child.pid ?? 0, url, performance.now() - begunMs))
  }
  await traffic.stop()

  const statuses = [...traffic.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  const judged = samples.filter(({ atMs }) => atMs >= Math.max(warmMs, totalMs - judgedMs))
  const growthMb = growthMbPerTenMinutes(judged)
  const highestMb = Math.max(...samples.map(({ residentMb }) => residentMb))
  process.stdout.write(
    `idle: ${idle.residentMb.toFixed(0)} MB\n${curveOf(samples, Math.min(spanMs, totalMs))}answers: ${statuses}; highest ${highestMb.toFixed(0)} MB` +
      `${isSoak ? `, growth ${growthMb.toFixed(2)} MB in ten minutes` : ''}\n`,
  )
  assert.equal(traffic.statuses.get(500), undefined)
  assert.ok(idle.residentMb <= mostIdleMb, `idle ${idle.residentMb.toFixed(0)} MB, at most ${mostIdleMb}`)
  assert.ok(highestMb <= mostResidentMb, `${highestMb.toFixed(0)} MB, at most ${mostResidentMb}`)
  if (isSoak) assert.ok(growthMb < mostGrowthMbPerTenMinutes, `${growthMb.toFixed(2)} MB in ten minutes`)
})

test('growth is told from garbage that comes and goes, and from one bad minute', () => {
  const grown = (mbPerMinute: number, garbageMb: (n: number) => number) =>
    growthMbPerTenMinutes(
      Array.from({ length: 120 }, (_, n) => ({
        atMs: n * 10_000,
        residentMb: 300 + (n / 6) * mbPerMinute + garbageMb(n),
        heapUsedMb: 40,
        externalMb: 10,
        threads: 16,
        descriptors: 80,
      })),
    )
  const sawtooth = (n: number) => (n % 5) * 6
  const oneBadMinute = (n: number) => (n >= 60 && n < 66 ? 40 : 0)
  assert.ok(Math.abs(grown(0, sawtooth)) < 0.5)
  assert.ok(Math.abs(grown(0, oneBadMinute)) < 0.5)
  assert.ok(grown(0.15, sawtooth) > mostGrowthMbPerTenMinutes)
})

test('the image starts the server with the settings of npm start', () => {
  const dockerfile = readFileSync(join(projectFolder, 'Dockerfile'), 'utf8')
  const settings = Object.entries(settingsOfStart())
  assert.notEqual(settings.length, 0)
  for (const [name, value] of settings)
    assert.match(dockerfile, new RegExp(`^ENV .*\\b${name}=${value}\\b`, 'm'))
})
