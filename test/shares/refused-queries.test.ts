import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { hurtIn, inWords, startNeighbours, victimDuring } from './neighbours.ts'

const columns = 2_000
const atOnce = 40
const leastMs = times(1_500, 5_000)

test('queries that are refused, many at once on the widest sheet, hold up nobody else', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim } = neighbours
  const names = Array.from({ length: columns }, (_, n) => `column ${n} of many`.padEnd(60, 'x'))
  const wide = await attacker.connect('wide', `${names.join()}\n${names.map((_, n) => n).join()}\n`)
  const products = await victim.connect('products', 'id,name\n1,tea\n')
  const cheap = `${products.formA}?limit=1`
  assert.equal((await attacker.ask(`${wide.formA}?limit=1`)).status, 200)
  assert.equal((await victim.ask(cheap)).status, 200)
  t.diagnostic(`idle: ${inWords(await victimDuring(neighbours, cheap, () => sleep(1_000)))}`)

  const kinds: Record<string, () => string> = {
    'a short name': () => '?zz=1',
    'a name like all others': () => `?${'column+1+of+tany'.padEnd(60, 'x')}=1`,
    'a name in the address': () => '/by/zzz/1',
    'an upsert by no column': () => '?upsert=zzz',
    'lists of one name': () => `?${Array.from({ length: 1_150 }, () => 'a[in][]').join('&')}`,
    'lists of many names': () => `?${Array.from({ length: 1_150 }, (_, n) => `a[in][${n}]`).join('&')}`,
    'parameters that are ignored': () => `?${'_&'.repeat(7_000)}zz=1`,
    'many names to show': () => `?fields=${Array.from({ length: 2_500 }, (_, n) => `b${n}`).join()}`,
  }
  for (const [kind, queryOf] of Object.entries(kinds)) {
    let asked = 0
    const measure = () =>
      victimDuring(neighbours, cheap, async () => {
        const endMs = performance.now() + leastMs
        const askOn = async () => {
          while (performance.now() < endMs) {
            const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' }
            const { status } = await attacker.ask(wide.formA + queryOf(), kind.includes('upsert') ? post : {})
            assert.equal(status, 400)
            asked++
          }
        }
        await Promise.all(Array.from({ length: atOnce }, askOn))
      })
    const figures = await holdsOfTwo(measure, (one) => hurtIn(one) && `${kind}: ${inWords(one)}`)
    t.diagnostic(`${kind}, ${asked} refused, ${atOnce} at a time: ${inWords(figures)}`)
  }
})
