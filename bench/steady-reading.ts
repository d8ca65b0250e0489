import { setTimeout as sleep } from 'node:timers/promises'
import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { createLoadClient, type LoadClient } from '../test/load-clients.ts'
import { productTable } from './product-table.ts'
import { type FigureRow, Missed, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const requestsPerSecond = 1_000
const seconds = Number(process.env.STEADY_READING_SECONDS ?? 60)
const cacheSeconds = 10
const latencyMs = 300
const windowMs = 60_000
const mostReadsPerMinute = 60 / cacheSeconds + 1

/** Many readers of one sheet, Google as slow and as stingy as it is. */
export const steadyReading: FigureRow = {
  kind: 'figure',
  name: `steady reading from Google: ${requestsPerSecond} requests a second for ${seconds} s, ${latencyMs} ms a read, real rations`,
  measure: () =>
    withEnds(async (after) => {
      const google = await startGoogleProcess({ after }, { latencyMs, quotas: true })
      const wish = { values: productTable(100), cacheSeconds }
      const { url, apiKey } = await startRowportOnGoogle(google, after, wish)
      const asked = { port: Number(new URL(url).port), path: '/api/sheets/acme/s', apiKey }
      const { answered, errors, waitedMs } = await askSteadily((client) => client.ask(asked))
      const readsAtMs = await sheetReads(google)
      const readsPerMinute = mostInWindow(readsAtMs)
      waitedMs.sort((one, other) => one - other)
      const at = (share: number) => (waitedMs[Math.floor(waitedMs.length * share)] ?? Number.NaN).toFixed(1)
      const problems = [...errors].map(([what, times]) => `${times} × ${what}`).join(', ')
      const figures =
        `answered     ${answered}, errors ${problems || 'none'}\n` +
        `  reads        ${readsAtMs.length} at Google, at most ${readsPerMinute} in any minute   (at most ${mostReadsPerMinute}: cache_seconds ${cacheSeconds})\n` +
        `  waiting      p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(0.99999)} ms`
      if (errors.size > 0 || readsPerMinute > mostReadsPerMinute) throw new Missed(figures)
      return figures
    }),
}

/** Each request is sent when it is due, however many wait: a server that stands still is not spared. */
async function askSteadily(ask: (client: LoadClient) => ReturnType<LoadClient['ask']>) {
  const idle: LoadClient[] = []
  const clients: LoadClient[] = []
  const errors = new Map<string, number>()
  const waitedMs: number[] = []
  const begunMs = performance.now()
  const askOnce = async (dueMs: number) => {
    const client = idle.pop() ?? newClient()
    const { status, endedMs } = await ask(client)
    idle.push(client)
    if (status === 200) waitedMs.push(endedMs - dueMs)
    else errors.set(String(status), (errors.get(String(status)) ?? 0) + 1)
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
  return { answered: waitedMs.length, errors, waitedMs }
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
