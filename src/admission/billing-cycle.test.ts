import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../test/soak.ts'
import { billingCycleAt } from './billing-cycle.ts'

const dayMs = 86_400_000

test('31 January is followed by 28 February, 31 March, 30 April, for ever', () => {
  const anchor = Date.UTC(2027, 0, 31, 15, 37)
  const starts = [0, 1, 2, 3, 4, 13, 25].map((months) => {
    const middle = Date.UTC(2027, months, 15) + 16 * dayMs
    return new Date(billingCycleAt(anchor, middle).startMs).toISOString().slice(0, 10)
  })
  assert.deepEqual(starts, [
    '2027-01-31',
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
    '2027-05-31',
    '2028-02-29',
    '2029-02-28',
  ])
})

test('any anchor, a hundred years: cycles follow each other without gap or overlap, on the right day', () => {
  let cycles = 0
  const anchors = fc.date({
    min: new Date(Date.UTC(2000, 0, 1)),
    max: new Date(Date.UTC(2100, 0, 1)),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(anchors, (anchor) => {
      let cycle = billingCycleAt(anchor.getTime(), anchor.getTime())
      assert.ok(cycle.startMs <= anchor.getTime() && anchor.getTime() < cycle.endMs)
      for (let month = 0; month < 1_200; month++) {
        const next = billingCycleAt(anchor.getTime(), cycle.endMs)
        assert.equal(next.startMs, cycle.endMs)
        assert.deepEqual(billingCycleAt(anchor.getTime(), cycle.endMs - 1), cycle)
        const start = new Date(next.startMs)
        const lastDay = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate()
        assert.equal(start.getUTCDate(), Math.min(anchor.getUTCDate(), lastDay))
        assert.equal(next.startMs % dayMs, 0)
        cycle = next
        cycles++
      }
    }),
    { numRuns: sized(50, 200), seed: 20261115 },
  )
  process.stdout.write(`billing cycles checked: ${cycles}, seed 20261115\n`)
})
