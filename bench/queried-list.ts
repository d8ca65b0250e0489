import { atMost, type FlooredFigure } from './floored.ts'
import { processorMs } from './process-figures.ts'
import { type FigureRow, median, withEnds } from './row.ts'
import { startLargeSheet } from './timed-get.ts'

const rounds = 60
/** Told beside the figures and not counted in them: what a query takes while the runtime still compiles it. */
const warmUps = 10

interface Asked {
  name: string
  query(n: number): string
  /** None where a query is only for the record. */
  mostP50Ms?: number
}

const queries: readonly Asked[] = [
  { name: 'first page', query: (n) => `limit=50&offset=${n * 50}` },
  {
    name: 'filter, sort, first page',
    query: (n) => `city=City%20${n % 50}&sort=-price&limit=50`,
    mostP50Ms: 5,
  },
  {
    name: 'sums by group',
    query: (n) => `group_by=city&aggregate=count(),sum(price)&price%5Bgte%5D=${n}&sort=-sum_price`,
    mostP50Ms: 5,
  },
  {
    name: 'range, sort by text, first page',
    query: (n) => `price%5Bgte%5D=${n * 10}&sort=name&limit=50`,
    mostP50Ms: 10,
  },
  { name: 'search, first page', query: (n) => `q=user${n}77&limit=50`, mostP50Ms: 25 },
  { name: 'contains, first page', query: (n) => `email%5Bcontains%5D=user${n}77&limit=50`, mostP50Ms: 25 },
]

/** What a query over 100,000 × 10 takes from request to the last byte of its answer. */
export const queriedList: FigureRow = {
  kind: 'figure',
  name: 'queries over 100,000 × 10, through HTTP',
  measure: () =>
    withEnds(async (after) => {
      const { timed, pid } = await startLargeSheet(after)
      const lines: string[] = []
      const floored: FlooredFigure[] = []
      for (const { name, query, mostP50Ms } of queries) {
        const first: number[] = []
        for (let n = 0; n < warmUps; n++) first.push(await timed(`?${query(n)}`))
        const figures: number[] = []
        const cpuBeforeMs = processorMs(pid)
        for (let n = 0; n < rounds; n++) figures.push(await timed(`?${query(n)}`))
        const cpuMs = (processorMs(pid) - cpuBeforeMs) / rounds
        figures.sort((one, other) => one - other)
        const at = (share: number) => figures[Math.floor(rounds * share)] ?? Number.NaN
        lines.push(
          `${name}: p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms, processor ${cpuMs.toFixed(1)} ms ` +
            `(the first ${warmUps} before: p50 ${median(first).toFixed(2)} ms)`,
        )
        if (mostP50Ms !== undefined) floored.push(atMost(`${name}, p50`, at(0.5), mostP50Ms, 'ms'))
      }
      return { said: lines.join('\n  '), floored }
    }),
}
