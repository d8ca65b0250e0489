import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { hurtIn, inWords, startNeighbours, victimDuring } from './neighbours.ts'

const rows = 20_000
const named = 10_000
const atOnce = 10
const forMs = times(3_000, 10_000)

// They are not sent, so nothing but the lane keeps them from coming one right after the other.
test('what would become of thousands of rows is told without holding up anybody else', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim, residentMb } = neighbours
  const values = Array.from({ length: 7 }, (_, nth) => `v${nth}`)
  const lines = Array.from(
    { length: rows },
    (_, row) => `${row},${values.map((v) => `${v} of ${row}`).join()}\n`,
  )
  const large = await attacker.connect('large', `a,b,c,d,e,f,g,h\n${lines.join('')}`)
  const products = await victim.connect('products', 'id,name\n1,Lamp\n')
  const cheap = `${products.formA}?limit=1`
  assert.equal((await attacker.ask(`${large.formA}?limit=1`)).status, 200)
  assert.equal((await victim.ask(cheap)).status, 200)
  const idle = await victimDuring(neighbours, cheap, () => sleep(1_000))
  t.diagnostic(`idle: ${inWords(idle)}`)
  for (const method of ['DELETE', 'PATCH']) {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ b: 'another' })
    const path = `${large.formA}?a[lt]=${named}&max_rows=${named}&dry_run=true`
    let told = 0
    const tellOn = async (endMs: number) => {
      while (performance.now() < endMs) {
        const answer = await attacker.ask(path, method === 'PATCH' ? { method, headers, body } : { method })
        assert.equal(answer.status, 200, answer.body.toString('utf8', 0, 500))
        told++
      }
    }
    const measure = () =>
      victimDuring(neighbours, cheap, () => {
        const endMs = performance.now() + forMs
        return Promise.all(Array.from({ length: atOnce }, () => tellOn(endMs)))
      })
    const figures = await holdsOfTwo(measure, (one) => hurtIn(one) && `${method}: ${inWords(one)}`)
    t.diagnostic(`${method}, ${told} told: ${inWords(figures)}; resident ${residentMb().toFixed(0)} MB`)
  }
})
