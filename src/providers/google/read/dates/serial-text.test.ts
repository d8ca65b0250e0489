import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type SerialKind, serialText } from './serial-text.ts'

const msPerDay = 86_400_000
const epochMs = Date.UTC(1899, 11, 30)

test('dates, times and what is elapsed, as the contract writes them', () => {
  const cases: [number, SerialKind, string | number][] = [
    [46_341, 'date', '2026-11-15'],
    [46_341.395833333336, 'date-time', '2026-11-15T09:30:00'],
    [46_341.395833333336, 'date', '2026-11-15'],
    [0.395833333333333, 'time', '09:30:00'],
    [46_341.999999999, 'date-time', '2026-11-16T00:00:00'],
    [46_341.3958347, 'date-time', '2026-11-15T09:30:00.118'],
    [1.0625, 'elapsed', '25:30:00'],
    [-0.0625, 'elapsed', '-01:30:00'],
    [1.0625, 'time', '01:30:00'],
    [-0.5, 'time', '12:00:00'],
    // Google has no 29 February 1900: 60 is the day after the 28th.
    [60, 'date', '1900-02-28'],
    [61, 'date', '1900-03-01'],
    [1, 'date', '1899-12-31'],
    [0, 'date', '1899-12-30'],
    [-1, 'date', '1899-12-29'],
    [-693_959, 'date', '0000-01-01'],
    [2_958_465, 'date', '9999-12-31'],
    // Past the calendar the number says more than a wrong text.
    [2_958_466, 'date', 2_958_466],
    [-693_960, 'date', -693_960],
    [1e300, 'date-time', 1e300],
  ]
  for (const [serial, kind, text] of cases) assert.equal(serialText(serial, kind), text, `${serial} ${kind}`)
})

test('every second of every day comes back as itself', () => {
  const seconds = fc.integer({ min: -20_000 * 86_400, max: 90_000 * 86_400 })
  fc.assert(
    fc.property(seconds, (second) => {
      const iso = new Date(epochMs + second * 1_000).toISOString()
      assert.equal(serialText((second * 1_000) / msPerDay, 'date-time'), iso.slice(0, 19))
    }),
    { seed: 7, numRuns: 2_000 },
  )
})
