import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPlainClient } from '../test/writing/plain-client.ts'
import { atMost } from './floored.ts'
import { processorMs, residentBytes } from './process-figures.ts'
import { startRowport } from './processes.ts'
import { type FigureRow, type Measured, withEnds } from './row.ts'

const streamCount = 1_000
const writes = Number(process.env.STREAMS_WRITES ?? 100)
const pauseMs = 100
const highestP99Ms = 250
/** What V8 and the sockets' buffers take at first is given back by then. */
const settleMs = 3_000

/** How long after its 2xx a write is at the last of a thousand who follow the sheet, and what each of them takes. */
export const streams: FigureRow = {
  kind: 'figure',
  name: `streams: ${streamCount} open on one sheet, ${writes} writes`,
  measure: () => withEnds(measure),
}

async function measure(after: (end: () => Promise<void>) => void): Promise<Measured> {
  const shares = { connections_per_address: 2_000, following_at_once: 2_000 }
  const settings = { ROWPORT_SHARES: JSON.stringify(shares) }
  const rowport = await startRowport('name,n\nfirst,0\n', undefined, 'one', settings)
  after(rowport.stop)
  const client = createPlainClient(rowport.apiKey)
  after(async () => client.close())
  const address = `${rowport.url}${rowport.sheetPath}`
  const write = (n: number) => client.send(`${address}/2`, 'PATCH', JSON.stringify({ n }), null)
  await client.send(address, 'GET', null, null)
  await write(0)
  const beforeBytes = residentBytes(rowport.pid)
  const arrivals: Arrivals = { streams: streamCount, marker: '', atMs: [], onAll: () => {} }
  const sockets: Socket[] = []
  after(async () => {
    for (const socket of sockets) socket.destroy()
  })
  for (let n = 0; n < streamCount; n++) sockets.push(await openStream(rowport, arrivals))
  await sleep(settleMs)
  const eachBytes = (residentBytes(rowport.pid) - beforeBytes) / streamCount
  const busyBeforeMs = processorMs(rowport.pid)
  const lastMs: number[] = []
  const allMs: number[] = []
  for (let n = 1; n <= writes; n++) {
    arrivals.marker = `"after":{"name":"first","n":${n}}`
    arrivals.atMs = []
    const all = new Promise<void>((resolve) => {
      arrivals.onAll = resolve
    })
    const { status } = await write(n)
    const doneMs = performance.now()
    if (status !== 200) throw new Error(`Rowport answered ${status}`)
    await Promise.race([all, sleep(10_000)])
    if (arrivals.atMs.length < streamCount)
      throw new Error(`Only ${arrivals.atMs.length} streams heard of write ${n}`)
    const waitedMs = arrivals.atMs.map((atMs) => Math.max(0, atMs - doneMs))
    allMs.push(...waitedMs)
    lastMs.push(Math.max(...waitedMs))
    await sleep(pauseMs)
  }
  const busyMs = (processorMs(rowport.pid) - busyBeforeMs) / writes
  const said =
    `memory        ${(eachBytes / 1024).toFixed(1)} KB each\n` +
    `  processor     ${busyMs.toFixed(0)} ms for each write, to all of them together\n` +
    `  to the last   p50 ${at(lastMs, 0.5)} ms, p99 ${at(lastMs, 0.99)} ms after the 2xx\n` +
    `  to any        p50 ${at(allMs, 0.5)} ms, p99 ${at(allMs, 0.99)} ms`
  const p99Ms = Number(at(lastMs, 0.99))
  return { said, floored: [atMost('to the last stream, p99', p99Ms, highestP99Ms, 'ms')] }
}

export interface Arrivals {
  /** How many there are to hear of it. */
  streams: number
  /** What the change that is waited for has in it. */
  marker: string
  atMs: number[]
  onAll(): void
}

/** As little of a client as there can be: a thousand of them share a core. */
export async function openStream(
  { url, sheetPath, apiKey }: { url: string; sheetPath: string; apiKey: string },
  arrivals: Arrivals,
): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(
    `GET ${sheetPath}/changes HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (head) =>
      head.includes('HTTP/1.1 200') ? resolve() : reject(new Error(head.toString().slice(0, 200))),
    )
  })
  socket.on('data', (chunk) => {
    if (!chunk.includes(arrivals.marker)) return
    arrivals.atMs.push(performance.now())
    if (arrivals.atMs.length === arrivals.streams) arrivals.onAll()
  })
  return socket
}

function at(figures: readonly number[], share: number): string {
  const sorted = figures.toSorted((one, other) => one - other)
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
}
