import { setTimeout as sleep } from 'node:timers/promises'
import { type GoogleProcess, startGoogleProcess } from '../test/google/google-process.ts'
import { createPlainClient } from '../test/writing/plain-client.ts'
import { atMost, type FlooredFigure } from './floored.ts'
import { productTable } from './product-table.ts'
import { type FigureRow, type Measured, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'

const seconds = Number(process.env.GOOGLE_CHANGES_SECONDS ?? 60)
const latencyMs = { write: 400, read: 300 }
const mostReadsPerWrite = 1.3

interface ChangesWish {
  clients: number
  /** Of ten changes, so many are deletions. */
  deletionsOfTen: number
  rowCount: number
  /** Beside them, one who reads all rows ten times a second. */
  isRead?: boolean
  /** Where those who wait for a few others are to be asked about at all. */
  highestP50Ms?: number
  highestP99Ms: number
}

const eight = { clients: 8, deletionsOfTen: 0, highestP50Ms: 1_500, highestP99Ms: 4_000 }

/** Few clients that each change one row after another: what a change costs is what it waits for. */
export const googleChanges: readonly FigureRow[] = [
  {
    kind: 'figure',
    name: `changes at Google: 8 clients, PATCH after PATCH for ${seconds} s, 300 ms a read, 400 ms a write, real rations`,
    measure: () => measure({ ...eight, rowCount: 1_000 }),
  },
  {
    kind: 'figure',
    name: 'changes at Google: the same with 20 clients, one change of ten a DELETE',
    measure: () =>
      measure({
        clients: 20,
        deletionsOfTen: 1,
        rowCount: 1_000,
        highestP99Ms: 5_000,
      }),
  },
  {
    kind: 'figure',
    name: 'changes at Google: the same eight on a sheet of 100 rows, while another reads it ten times a second',
    measure: () => measure({ ...eight, rowCount: 100, isRead: true }),
  },
]

function measure(wish: ChangesWish): Promise<Measured> {
  return withEnds((after) => measureIn(after, wish))
}

async function measureIn(after: (end: () => Promise<void>) => void, wish: ChangesWish): Promise<Measured> {
  const { rowCount } = wish
  const google = await startGoogleProcess({ after }, { latencyMs, quotas: true })
  const { url, apiKey, spreadsheetId } = await startRowportOnGoogle(google, after, {
    values: productTable(rowCount),
  })
  const address = `${url}/api/sheets/acme/s`
  const reader = wish.isRead ? keepReading(address, apiKey) : null
  const before = (await callsOf(google)).length
  const { waitedMs, deleted, failed } = await change(address, apiKey, wish)
  const read = await reader?.stop()
  const calls = (await callsOf(google)).slice(before)
  const writes = calls.filter(({ kind }) => kind === 'write').length
  const reads = calls.filter(({ kind }) => kind === 'read').length
  const refusals = calls.filter(({ status }) => status === 429).length
  const there = (await google.cells(spreadsheetId)).length - 1
  const at = (share: number) => waitedMs[Math.floor(waitedMs.length * share)] ?? Number.NaN
  const problems = [...failed].map(([what, times]) => `${times} × ${what}`).join(', ')
  const said =
    `${waitedMs.length} changes in ${seconds} s, ${deleted} of them deletions (${there} rows of ${rowCount} left), failed: ${problems || 'none'}\n` +
    `  calls         ${writes} writes, ${reads} reads: ${(reads / writes).toFixed(2)} a write, ${refusals} refused by Google's ration\n` +
    `  waiting       p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms`
  const reading = read
    ? `\n  reading       ${read.waitedMs.length} answers, p50 ${read.at(0.5).toFixed(1)} ms, p99 ${read.at(0.99).toFixed(1)} ms`
    : ''
  const failures = [...failed.values()].reduce((sum, times) => sum + times, 0)
  const floored: FlooredFigure[] = [
    atMost('reads a write', reads / writes, mostReadsPerWrite),
    ...(wish.highestP50Ms === undefined ? [] : [atMost('p50', at(0.5), wish.highestP50Ms, 'ms')]),
    atMost('p99', at(0.99), wish.highestP99Ms, 'ms'),
    atMost('failed', failures, 0),
    atMost("calls refused by Google's ration", refusals, 0),
    atMost('rows too many or too few', Math.abs(there - (rowCount - deleted)), 0),
  ]
  return { said: said + reading, floored }
}

async function change(url: string, apiKey: string, { clients, deletionsOfTen }: ChangesWish) {
  const endMs = performance.now() + seconds * 1_000
  const waitedMs: number[] = []
  const failed = new Map<string, number>()
  let deleted = 0
  const work = async (nth: number) => {
    const client = createPlainClient(apiKey)
    for (let n = 0; performance.now() < endMs; n++) {
      const isDeletion = (n + nth) % 10 < deletionsOfTen
      const begunMs = performance.now()
      const { status } = isDeletion
        ? await client.send(`${url}/${300 + nth}`, 'DELETE', '', null)
        : await client.send(`${url}/${2 + nth}`, 'PATCH', JSON.stringify({ note: `${nth} ${n}` }), null)
      if (status !== 200) failed.set(String(status), (failed.get(String(status)) ?? 0) + 1)
      else waitedMs.push(performance.now() - begunMs)
      if (status === 200 && isDeletion) deleted++
    }
    client.close()
  }
  await Promise.all(Array.from({ length: clients }, (_, nth) => work(nth)))
  return { waitedMs: waitedMs.sort((one, other) => one - other), deleted, failed }
}

function keepReading(url: string, apiKey: string) {
  const waitedMs: number[] = []
  let isOver = false
  const done = (async () => {
    const client = createPlainClient(apiKey)
    while (!isOver) {
      const begunMs = performance.now()
      const { status } = await client.send(url, 'GET', null, null)
      if (status !== 200) throw new Error(`Rowport answered ${status}`)
      waitedMs.push(performance.now() - begunMs)
      await sleep(100)
    }
    client.close()
  })()
  return {
    async stop() {
      isOver = true
      await done
      waitedMs.sort((one, other) => one - other)
      return { waitedMs, at: (share: number) => waitedMs[Math.floor(waitedMs.length * share)] ?? Number.NaN }
    },
  }
}

async function callsOf(google: GoogleProcess): Promise<{ kind: string; status: number }[]> {
  return (await google.control<{ calls: { kind: string; status: number }[] }>('GET', 'calls')).calls
}
