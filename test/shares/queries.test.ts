import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { type Answer, hurtIn, inWords, startNeighbours, victimDuring } from './neighbours.ts'

const rows = 100_000
const atOnce = 16
/** Long enough to ask the victim some hundred times: of sixty requests the slowest is the p99. */
const leastMs = times(1_500, 5_000)

test('the costliest queries, many at once, hold up nobody else', { timeout: patienceMs }, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim, residentMb } = neighbours
  const large = await attacker.connect('large', largeCsv())
  const products = await victim.connect('products', largeCsv(1_000))
  const cheap = `${products.formA}?limit=1`
  assert.equal((await attacker.ask(`${large.formA}?id=1`)).status, 200)
  assert.equal((await victim.ask(`${products.formA}?id=1`)).status, 200)
  const idle = await victimDuring(neighbours, cheap, () => sleep(1_000))
  t.diagnostic(`idle: ${inWords(idle)}`)

  const names = ['id', 'city', 'price', 'day', 'a', 'b', 'c', 'note', 'd', 'in_stock']
  const values = (n: number) => Array.from({ length: 1_000 }, (_, at) => `n${(at * 97 + n) % rows}`)
  const kinds: Record<string, (n: number) => string> = {
    'sort by 10 columns': (n) => `sort=${names.join(',')}&limit=${n + 1}`,
    '1,000 values': (n) => `note[in]=${values(n).join(',')}&limit=1`,
    search: (n) => `q=zz${n}&limit=1`,
    '50 filters': (n) =>
      `${Array.from({ length: 50 }, (_, at) => `note[contains]=n${at}${n}`).join('&')}&limit=1`,
    'whole list as CSV': () => 'format=csv',
    'sorted list with some fields': (n) => `sort=price&fields=id,city,note&offset=${n}`,
  }
  for (const [kind, queryOf] of Object.entries(kinds)) {
    const took: number[] = []
    let round = 0
    const measure = () =>
      victimDuring(neighbours, cheap, async () => {
        const endMs = performance.now() + leastMs
        do {
          const asked = Array.from({ length: atOnce }, (_, n) =>
            attacker.ask(`${large.formA}?${queryOf(round * atOnce + n)}`),
          )
          round++
          for (const { status, tookMs, body } of (await Promise.all(asked)) as Answer[]) {
            assert.equal(status, 200, `${kind}: ${body.subarray(0, 200)}`)
            took.push(tookMs)
          }
        } while (performance.now() < endMs)
      })
    const figures = await holdsOfTwo(measure, (one) => hurtIn(one) && `${kind}: ${inWords(one)}`)
    const slowestMs = Math.max(...took).toFixed(0)
    t.diagnostic(
      `${kind}, ${atOnce} at once (up to ${slowestMs} ms each): ${inWords(figures)}; resident ${residentMb().toFixed(0)} MB`,
    )
  }
  for (const [query, details] of [
    [`sort=${Array.from({ length: 400 }, () => 'city').join(',')}`, /may name 10 columns/],
    [`city[in]=${Array.from({ length: 2_000 }, () => 'x').join(',')}`, /may name 1,000 values/],
  ] as const) {
    const { status, body } = await attacker.ask(`${large.formA}?${query}`)
    assert.equal(status, 400)
    assert.match(body.toString(), details)
  }
})

function largeCsv(count = rows): string {
  const cities = ['Berlin', 'Bonn', 'Kiel', 'Kassel', 'Ulm']
  const lines = Array.from(
    { length: count },
    (_, n) =>
      `${n},${cities[n % 5]},${((n * 7_919) % 100_000) / 100},${n % 3 === 0 ? 'TRUE' : 'FALSE'},2026-11-${10 + (n % 20)},` +
      `${n % 17},word ${n % 101},${n * 3},,n${n}`,
  )
  return `id,city,price,in_stock,day,a,b,c,d,note\n${lines.join('\n')}\n`
}
