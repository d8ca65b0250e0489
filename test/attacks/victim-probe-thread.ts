import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { smallCsv, type Victim } from './neighbourhood.ts'

export interface ProbeTask extends Victim {
  port: number
  pid: number
  /** Of the server that does nothing else. */
  barePort: number
}

export interface Probed {
  cachedMs: number[]
  bareMs: number[]
  firstMs: number[]
  failures: Record<string, number>
  mostResidentMb: number
}

const oneEveryMs = 10
const firstEveryMs = 400
/** Longer than anything a client waits for. */
const patienceMs = 60_000

const task = workerData as ProbeTask
const probed: Probed = { cachedMs: [], bareMs: [], firstMs: [], failures: {}, mostResidentMb: 0 }
const underWay = new Set<Promise<void>>()
let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
await read(task.cachedPath, {})
parentPort?.postMessage('begun')
await Promise.all([cachedReads(), firstReads()])
await Promise.all(underWay)
parentPort?.postMessage(probed)

/**
 * Sent when due, however long the ones before take; each on a connection of its own, as a newcomer has it. Every other one goes to
 * the server that has nothing to do: what is slow there is this machine's doing.
 */
async function cachedReads(): Promise<void> {
  const begunMs = performance.now()
  for (let sent = 0; !isOver; sent++) {
    await sleep(Math.max(1, begunMs + sent * oneEveryMs - performance.now()))
    probed.mostResidentMb = Math.max(probed.mostResidentMb, residentMb())
    // In turns, so that neither has the other's answer to wait for.
    const isBare = sent % 2 === 1
    const answered = read(task.cachedPath, {}, isBare ? task.barePort : task.port).then((tookMs) => {
      if (tookMs !== null) (isBare ? probed.bareMs : probed.cachedMs).push(tookMs)
      underWay.delete(answered)
    })
    underWay.add(answered)
  }
}

/** Of a small file that was saved a moment ago: it has to be read and decoded. */
async function firstReads(): Promise<void> {
  for (let saved = 0; !isOver; saved++) {
    await sleep(firstEveryMs)
    const beside = `${task.movingFile}.new`
    await writeFile(beside, smallCsv(300 + saved))
    // A file that is renamed in the tick in which it was written counts as one that is being written.
    await sleep(50)
    await rename(beside, task.movingFile)
    const tookMs = await read(`${task.movingPath}?limit=1`, { 'Cache-Control': 'no-cache' })
    if (tookMs !== null) probed.firstMs.push(tookMs)
  }
}

function read(path: string, headers: Record<string, string>, port = task.port): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const begunMs = performance.now()
  const failed = (what: string) => {
    probed.failures[what] = (probed.failures[what] ?? 0) + 1
    resolve(null)
  }
  const options = {
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    timeout: patienceMs,
    headers: { Authorization: `Bearer ${task.apiKey}`, ...headers },
  }
  const sent = request(options, (answer) => {
    answer.resume()
    answer.once('end', () => {
      if (answer.statusCode === 200) resolve(performance.now() - begunMs)
      else failed(String(answer.statusCode))
    })
    answer.once('error', () => failed('broken off'))
  })
  sent.once('timeout', () => sent.destroy())
  sent.once('error', (error: NodeJS.ErrnoException) => failed(error.code ?? 'broken off'))
  sent.end()
  return promise
}

function residentMb(): number {
  const status = readFileSync(`/proc/${task.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024
}
