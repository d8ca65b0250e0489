import { type FigureRow, Missed, withEnds } from './row.ts'
import { timedGets } from './timed-get.ts'

const rounds = 60
const mostP50Ms = 5
const bounded = ['filter, sort, first page', 'sums by group']
const queries: readonly (readonly [name: string, query: (n: number) => string])[] = [
  ['first page', (n) => `limit=50&offset=${n * 50}`],
  ['filter, sort, first page', (n) => `city=City%20${n % 50}&sort=-price&limit=50`],
  ['sums by group', (n) => `group_by=city&aggregate=count(),sum(price)&price%5Bgte%5D=${n}&sort=-sum_price`],
  ['range, sort by text, first page', (n) => `price%5Bgte%5D=${n * 10}&sort=name&limit=50`],
  ['search, first page', (n) => `q=user${n}77&limit=50`],
]

/** What a query over 100,000 × 10 takes from request to the last byte of its answer. */
export const queriedList: FigureRow = {
  kind: 'figure',
  name: `queries over 100,000 × 10, through HTTP: ${bounded.join('; ')} at most ${mostP50Ms} ms`,
  measure: () =>
    withEnds(async (after) => {
      const timed = await timedGets(after)
      const lines: string[] = []
      let highestP50Ms = 0
      for (const [name, queryOf] of queries) {
        for (let n = 0; n < 10; n++) await timed(`?${queryOf(n)}`)
        const figures: number[] = []
        for (let n = 0; n < rounds; n++) figures.push(await timed(`?${queryOf(n)}`))
        figures.sort((one, other) => one - other)
        const at = (share: number) => figures[Math.floor(rounds * share)] ?? Number.NaN
        if (bounded.includes(name)) highestP50Ms = Math.max(highestP50Ms, at(0.5))
        lines.push(`${name}: p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms`)
      }
      const figures = lines.join('\n  ')
      if (highestP50Ms > mostP50Ms) throw new Missed(figures)
      return figures
    }),
}
