import { setTimeout as sleep } from 'node:timers/promises'
import { decodeCsv } from '../src/providers/file/csv/csv.ts'
import type { Fetched } from '../src/sheets/provider.ts'
import { createDecoding } from '../src/sheets/reading/decoding.ts'
import { buildSnapshot } from '../src/sheets/rows/build-snapshot.ts'
import { listChunks } from '../src/sheets/rows/query/list-chunks.ts'
import type { Query } from '../src/sheets/rows/query/query.ts'
import { runQuery } from '../src/sheets/rows/query/run-query.ts'
import type { IndexedSnapshot, Snapshot } from '../src/sheets/rows/snapshot.ts'
import { type FigureRow, median } from './row.ts'

const rows = 100_000
const rounds = 101
const everything: Query = { filters: [], search: null, sort: [], limit: 50, offset: 0 }

const [id, name, , city, , price, , created, , note] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const queries: readonly (readonly [title: string, query: Query])[] = [
  ['first page', everything],
  ['one of 50 equal', { ...everything, filters: [{ column: city, operator: 'eq', values: ['City 7'] }] }],
  [
    'one of 50 equal, sorted by price, first page',
    {
      ...everything,
      filters: [{ column: city, operator: 'eq', values: ['City 7'] }],
      sort: [{ column: price, descending: true }],
    },
  ],
  [
    'half of all, sorted by name',
    {
      ...everything,
      filters: [{ column: price, operator: 'gte', values: ['5000'] }],
      sort: [{ column: name, descending: false }],
    },
  ],
  ['all, sorted by date and id', { ...everything, sort: [sortBy(created), sortBy(id)] }],
  ['note contains', { ...everything, filters: [{ column: note, operator: 'contains', values: ['77'] }] }],
  ['search', { ...everything, search: 'user7' }],
]

/** Filters, sorts and searches over 100,000 × 10 in memory, what the snapshot holds, and how it gets there. */
export const queryFigures: FigureRow = {
  kind: 'figure',
  name: 'queries over 100,000 × 10, without HTTP',
  async measure() {
    const csv = Buffer.from(csvOf(rows))
    const { snapshot, turns } = await decodedInWorker(csv)
    const grid = decodeCsv(csv)
    const builtMs = medianOf(5, () => buildSnapshot(grid))
    const { listJson, sizeInBytes } = snapshot
    const lines = [
      `build ${builtMs.toFixed(0)} ms; ${megabytes(sizeInBytes)} held, ${(sizeInBytes / listJson.byteLength).toFixed(2)} of the JSON text`,
      `longest turn of the main thread while a worker reads it: ${turns.map(turnText).join(', ')}`,
      ...queries.map(([title, query]) => queryLine(snapshot, title, query)),
      `all rows, two fields: ${medianOf(11, () => drain(snapshot)).toFixed(1)} ms`,
    ]
    return { said: lines.join('\n  '), floored: [] }
  },
}

function queryLine(snapshot: IndexedSnapshot, title: string, query: Query): string {
  const { total } = runQuery(snapshot, query)
  const p50Ms = medianOf(rounds, () => {
    const { positions } = runQuery(snapshot, query)
    for (const _ of listChunks(snapshot, positions, { fields: null, rowNumbers: false, wrap: 'array' }));
  })
  return `${title}: p50 ${p50Ms.toFixed(2)} ms (${total} match)`
}

function drain(snapshot: Snapshot): void {
  for (const _ of listChunks(snapshot, 'all', { fields: [name, price], rowNumbers: false, wrap: 'array' }));
}

/** As the server does it: the thread makes the snapshot, and this one only takes the buffers. */
async function decodedInWorker(csv: Buffer) {
  const decoding = createDecoding({ observe: () => {} })
  const decoder = {
    module: import.meta.resolve('../src/providers/file/csv/csv.ts'),
    name: 'decodeCsv',
    options: {},
  }
  const small: Fetched = { bytes: Buffer.from('a\n1\n'), version: '0', decoder }
  await decoding.decode('acc', async () => small)
  const turns: Turn[] = []
  for (;;) {
    const bytes = Uint8Array.from(csv)
    const fetched: Fetched = { bytes, version: '1', decoder }
    const decoded = decoding.decode('acc', async () => fetched).then(({ indexed }) => indexed)
    turns.push(await longestTurn(decoded))
    if (turns.length < 5) continue
    await decoding.close()
    return { snapshot: await decoded, turns }
  }
}

/** How long others had to wait, and how much of that was this thread's own work and not a busy machine's. */
interface Turn {
  ms: number
  cpuMs: number
}

async function longestTurn(work: Promise<unknown>): Promise<Turn> {
  let isDone = false
  const settled = work.finally(() => {
    isDone = true
  })
  const longest: Turn = { ms: 0, cpuMs: 0 }
  while (!isDone) {
    const begunMs = performance.now()
    const cpuBefore = process.threadCpuUsage()
    await sleep(1)
    const { user, system } = process.threadCpuUsage(cpuBefore)
    longest.ms = Math.max(longest.ms, performance.now() - begunMs - 1)
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1_000)
  }
  await settled
  return longest
}

function turnText({ ms, cpuMs }: Turn): string {
  return `${ms.toFixed(1)} ms (own work ${cpuMs.toFixed(1)})`
}

function csvOf(count: number): string {
  let state = 42
  const draw = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const lines = ['id,name,email,city,country,price,in_stock,created,category,note']
  for (let n = 1; n <= count; n++) {
    const day = `20${10 + draw(15)}-${10 + draw(3)}-${10 + draw(19)}`
    const words = `"Some words about number ${draw(1e9)}, and more"`
    lines.push(
      `${n},Person ${draw(1e9)},user${draw(1e9)}@example.com,City ${draw(50)},Country ${draw(10)},` +
        `${draw(1_000_000) / 100},${draw(2) ? 'TRUE' : 'FALSE'},${day},Category ${draw(200)},${words}`,
    )
  }
  return lines.join('\n')
}

function sortBy(column: number) {
  return { column, descending: false }
}

function medianOf(count: number, work: () => void): number {
  return median(Array.from({ length: count }, () => timed(work)))
}

function timed(work: () => void): number {
  const begunMs = performance.now()
  work()
  return performance.now() - begunMs
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
