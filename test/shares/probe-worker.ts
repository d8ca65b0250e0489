import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { createLoadClient } from '../load-clients.ts'

/** One cheap request after the other, on a thread of its own: what the attacker reads must not hold up the measurement. */
export interface ProbeWish {
  port: number
  path: string
  apiKey: string
}

export interface Probed {
  tookMs: number[]
  statuses: (number | null)[]
}

const everyMs = 4
const wish = workerData as ProbeWish
const client = createLoadClient()
const probed: Probed = { tookMs: [], statuses: [] }
let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
parentPort?.postMessage('ready')
while (!isOver) {
  const { status, begunMs, endedMs } = await client.ask(wish)
  probed.tookMs.push(endedMs - begunMs)
  probed.statuses.push(status)
  await sleep(everyMs)
}
client.close()
parentPort?.postMessage(probed)
