import { setTimeout as sleep } from 'node:timers/promises'
import { type Neighbourhood, startNeighbourhood } from '../test/attacks/neighbourhood.ts'
import { inWords, probeVictim, type VictimFigures } from '../test/attacks/victim-probe.ts'
import { atMost, type FlooredFigure } from './floored.ts'
import { hundredThousandRows } from './list-files.ts'
import { neverReached } from './processes.ts'
import { type FigureRow, type Measured, median, withEnds } from './row.ts'

const seconds = Number(process.env.BESIDE_SEARCHES_SECONDS ?? 15)
const mostP99Ms = 20
const searcher = 'searcher'

const searches: readonly { name: string; query(n: number): string }[] = [
  { name: 'q', query: (n) => `q=user${n}77&limit=50` },
  { name: 'contains', query: (n) => `email%5Bcontains%5D=user${n}77&limit=50` },
]

/**
 * A cached read of 300 rows by another account, while 100,000 × 10 are searched without a pause. A thread of its own asks, so that
 * the searching clients' work is not taken for the server's, and a bare server beside it tells what this machine takes.
 */
export const besideSearches: FigureRow = {
  kind: 'figure',
  name: 'others beside searches of 100,000 × 10, through HTTP',
  measure: () => withEnds(measure),
}

async function measure(after: (end: () => Promise<void>) => void): Promise<Measured> {
  const street = await startNeighbourhood({ after }, 'embedded')
  const { apiKey, ask } = await street.newAttacker(searcher)
  const lifted = ['--per-minute', `${neverReached}`, '--per-month', `${neverReached}`]
  await street.operate(['account', 'plan', searcher, 'pro', ...lifted])
  const { path } = await street.connectFile(searcher, 'large', hundredThousandRows())
  const search = async (query: string) => {
    const headers = { Authorization: `Bearer ${apiKey}` }
    const begunMs = performance.now()
    const { status, body } = await ask({ path: `${path}?${query}`, headers })
    if (status !== 200) throw new Error(`Rowport answered ${status}: ${body.slice(0, 200)}`)
    return performance.now() - begunMs
  }
  // The first also reads the file and makes its indexes.
  for (const { query } of searches) for (let n = 0; n < 10; n++) await search(query(n))

  const calm = await meanwhile(street, async () => {
    await sleep(seconds * 500)
    return 'nobody searches'
  })
  const said = [calm.said]
  const floored: FlooredFigure[] = []
  let failed = 0
  for (const { name, query } of searches) {
    for (const atOnce of [1, 4]) {
      const during = await meanwhile(street, () => keepSearching(atOnce, (n) => search(query(n)), name))
      said.push(during.said)
      const { cachedP99Ms, cachedReads, bareP99Ms, failures } = during.figures
      for (const times of Object.values(failures)) failed += times
      const p99Ms = cachedReads > 0 ? cachedP99Ms : Number.NaN
      const judged = atMost(`p99 beside ${name}, ${atOnce} at once`, p99Ms, mostP99Ms, 'ms')
      const figure = `${judged.figure} (a bare server meanwhile ${bareP99Ms.toFixed(1)} ms)`
      floored.push({ ...judged, figure })
    }
  }
  floored.push(atMost('failed', failed, 0))
  return { said: said.join('\n  '), floored }
}

async function meanwhile(
  street: Neighbourhood,
  work: () => Promise<string>,
): Promise<{ said: string; figures: VictimFigures }> {
  const probe = await probeVictim(street)
  const what = await work()
  const figures = await probe.stop()
  return { said: `${what}: ${inWords(figures)}`, figures }
}

/** Each client asks for the next as soon as it has its answer. */
async function keepSearching(
  atOnce: number,
  search: (n: number) => Promise<number>,
  name: string,
): Promise<string> {
  const endMs = performance.now() + seconds * 1_000
  const tookMs: number[] = []
  let next = 0
  const client = async () => {
    while (performance.now() < endMs) tookMs.push(await search(next++ % 90))
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  return `${name}, ${atOnce} at once (${tookMs.length} searches, p50 ${median(tookMs).toFixed(1)} ms)`
}
