import { setTimeout as sleep } from 'node:timers/promises'
import { account, connectFile, createAccount, type Ground, openGround } from './ground.ts'
import { loadInTurn } from './load-in-turn.ts'
import { type Axis, powersOfTen } from './point.ts'
import { csvOf } from './tables.ts'

/** A sheet of a million rows takes more than the default has room for. */
const snapshotMegabytes = 2_048
const columns = 5
const mostTries = 3
const retryMs = 3_000
/** So many of each kind, in turn: nothing that was kept of one answer serves for the next. */
const variants = 50

const requests: readonly (readonly [name: string, below: (n: number, rows: number) => string])[] = [
  ['first page', () => '?limit=50'],
  ['filter + sort, first page', (n) => `?city=City%20${n}&sort=-price&limit=50`],
  ['search, first page', (n) => `?q=user${n}7&limit=50`],
  ['one row by number', (n, rows) => `/${2 + ((n * 7_919) % rows)}`],
  ['one row by value', (n, rows) => `/by/id/${(n * 7_919) % rows}`],
]

export const rowsAxis: Axis = {
  name: 'rows',
  unit: 'rows in the sheet',
  about: `a CSV file of ${columns} columns; ROWPORT_SNAPSHOT_MB=${snapshotMegabytes}; 8 connections`,
  drawn: ['first page', 'filter + sort, first page', 'search, first page', 'one row by value'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const ground = await openGround(store, after, { ROWPORT_SNAPSHOT_MB: String(snapshotMegabytes) })
    const apiKey = await ground.prepare((workshop) => createAccount(workshop))
    for (const rows of powersOfTen(1_000, 1_000_000, wish)) {
      const slug = `rows-${rows}`
      const path = await ground.prepare((workshop) =>
        connectFile(workshop, ground.folder, slug, csvOf(rows, columns)),
      )
      const { url } = await ground.start()
      yield {
        at: rows,
        request: 'cold: until the first page is there',
        ...(await coldRead(ground, url + path, apiKey)),
      }
      for (const [request, below] of requests) {
        const asked = Array.from({ length: variants }, (_, n) => ({ path: path + below(n, rows), apiKey }))
        yield { at: rows, request, ...(await loadInTurn(ground, url, asked, seconds)) }
      }
    }
  },
}

/** The first request of a sheet that nobody has read yet, and the indexing behind it. */
async function coldRead(ground: Ground, url: string, apiKey: string) {
  const end = ground.begin()
  const begunMs = performance.now()
  // A first read is given up after 30 s, which a crowded machine may take; what was tried counts.
  const getPatiently = async (query: string) => {
    for (let tries = 1; tries < mostTries; tries++) {
      const isThere = await get(query).then(
        () => true,
        () => sleep(retryMs).then(() => false),
      )
      if (isThere) return
    }
    await get(query)
  }
  const get = async (query: string) => {
    const answer = await fetch(`${url}${query}`, { headers: { Authorization: `Bearer ${apiKey}` } })
    if (answer.status !== 200) throw new Error(`${account}: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  await getPatiently('?limit=50')
  const firstMs = performance.now() - begunMs
  // Answered once the columns are indexed.
  await get('?sort=name&limit=1')
  return { ...end(1), p50Ms: firstMs, p99Ms: performance.now() - begunMs }
}
