import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { createLoadClient, type LoadClient } from '../test/load-clients.ts'
import { atMost } from './floored.ts'
import { productTable } from './product-table.ts'
import { type FigureRow, type Measured, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const requestsPerSecond = 1_000
const seconds = Number(process.env.STEADY_READING_SECONDS ?? 60)
const cacheSeconds = 10
const latencyMs = 300
const windowMs = 60_000
const mostReadsPerMinute = 60 / cacheSeconds + 1
const highestP99Ms = 15

/** Many readers of one sheet, Google as slow and as stingy as it is: nobody waits for it. */
export const steadyReading: readonly FigureRow[] = [
  {
    kind: 'figure',
    name: `steady reading from Google: ${requestsPerSecond} requests a second for ${seconds} s, ${latencyMs} ms a read, real rations`,
    measure: () => withEnds((after) => measureIn(after, false)),
  },
  {
    kind: 'figure',
    name: 'steady reading from Google: the same, and a person changes a row four times a second',
    measure: () => withEnds((after) => measureIn(after, true)),
  },
]

async function measureIn(after: (end: () => Promise<void>) => void, isEdited: boolean): Promise<Measured> {
  const google = await startGoogleProcess({ after }, { latencyMs, quotas: true })
  const wish = { values: productTable(100), cacheSeconds }
  const { url, apiKey, spreadsheetId } = await startRowportOnGoogle(google, after, wish)
  if (isEdited) after(keepEditing(google, spreadsheetId))
  const asked = { port: Number(new URL(url).port), path: '/api/sheets/acme/s', apiKey }
  // The first reader of a cold sheet waits; this is about those who come when it is in use.
  const { status } = await createLoadClient().ask(asked)
  if (status !== 200) throw new Error(`Rowport answered ${status}`)
  const { answered, errors, waitedMs, oldestSeconds, misses, lateMs } = await askSteadily((client) =>
    client.ask(asked),
  )
  const readsAtMs = await sheetReads(google)
  const readsPerMinute = mostInWindow(readsAtMs)
  waitedMs.sort((one, other) => one - other)
  const at = (share: number) => waitedMs[Math.floor(waitedMs.length * share)] ?? Number.NaN
  const problems = [...errors].map(([what, times]) => `${times} × ${what}`).join(', ')
  const said =
    `answered     ${answered}, errors ${problems || 'none'}, ${misses} waited for Google\n` +
    `  reads        ${readsAtMs.length} at Google, at most ${readsPerMinute} in any minute, cache_seconds ${cacheSeconds}\n` +
    `  Age          at most ${oldestSeconds} s\n` +
    `  waiting      p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, longest ${at(0.99999).toFixed(1)} ms; p99 by which the load itself was late ${lateMs.toFixed(1)} ms`
  const failed = [...errors.values()].reduce((sum, times) => sum + times, 0)
  return {
    said,
    floored: [
      atMost('failed', failed, 0),
      atMost('waited for Google', misses, 0),
      atMost('reads in any minute', readsPerMinute, mostReadsPerMinute),
      atMost('Age', oldestSeconds, cacheSeconds, 's'),
      atMost('p99', at(0.99), highestP99Ms, 'ms'),
    ],
  }
}

function keepEditing(google: GoogleProcess, spreadsheetId: string): () => Promise<void> {
  let isOver = false
  const edited = (async () => {
    for (let n = 0; !isOver; n++) {
      const edit = { op: 'set', row: 2 + (n % 100), column: 2, value: `edited ${n}` }
      await google.control('POST', 'edit', { spreadsheetId, tab: 'Items', ...edit })
      await sleep(250)
    }
  })()
  return async () => {
    isOver = true
    await edited
  }
}

/** Each request is sent when it is due, however many wait: a server that stands still is not spared. */
async function askSteadily(ask: (client: LoadClient) => ReturnType<LoadClient['ask']>) {
  const idle: LoadClient[] = []
  const clients: LoadClient[] = []
  const errors = new Map<string, number>()
  const waitedMs: number[] = []
  let misses = 0
  // Both cores are shared: what this process is late by, no server can make good.
  const late = monitorEventLoopDelay({ resolution: 1 })
  late.enable()
  let oldestSeconds = 0
  const begunMs = performance.now()
  const askOnce = async (dueMs: number) => {
    const client = idle.pop() ?? newClient()
    const answer = await ask(client)
    const { status, endedMs } = answer
    idle.push(client)
    if (status === 200) {
      waitedMs.push(endedMs - dueMs)
      if (!answer.isHit) misses++
      oldestSeconds = Math.max(oldestSeconds, answer.ageSeconds ?? Number.POSITIVE_INFINITY)
    } else errors.set(String(status), (errors.get(String(status)) ?? 0) + 1)
  }
  const newClient = () => {
    const client = createLoadClient()
    clients.push(client)
    return client
  }
  const asking: Promise<void>[] = []
  const total = requestsPerSecond * seconds
  while (asking.length < total) {
    const due = Math.min(total, ((performance.now() - begunMs) / 1_000) * requestsPerSecond)
    while (asking.length < due) asking.push(askOnce(begunMs + (asking.length / requestsPerSecond) * 1_000))
    await sleep(1)
  }
  await Promise.all(asking)
  for (const client of clients) client.close()
  return {
    answered: waitedMs.length,
    errors,
    waitedMs,
    oldestSeconds,
    misses,
    lateMs: late.percentile(99) / 1e6,
  }
}

/** When each of them arrived, ascending. */
async function sheetReads(google: GoogleProcess): Promise<number[]> {
  const { calls } = await google.control<{ calls: { kind: string; service: string; atMs: number }[] }>(
    'GET',
    'calls',
  )
  return calls.filter(({ kind, service }) => kind === 'read' && service === 'sheets').map(({ atMs }) => atMs)
}

function mostInWindow(atMs: readonly number[]): number {
  const from = (startMs: number) => atMs.filter((ms) => ms >= startMs && ms < startMs + windowMs).length
  return Math.max(0, ...atMs.map(from))
}
