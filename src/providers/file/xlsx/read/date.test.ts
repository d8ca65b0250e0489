import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatIsoCell, formatSerial } from './date.ts'
import type { NumberFormatKind } from './number-format.ts'

const cases: [name: string, serial: number, kind: NumberFormatKind, expected: string | number][] = [
  ['the first day', 1, 'date', '1900-01-01'],
  ['the last day before the leap day that never was', 59, 'date', '1900-02-28'],
  ['the leap day that never was', 60, 'date', 60],
  ['a time on that day', 60.5, 'date-time', 60.5],
  ['the clock on that day', 60.5, 'time', '12:00:00'],
  ['the day after it', 61, 'date', '1900-03-01'],
  ['a leap day', 36_585, 'date', '2000-02-29'],
  ['a day of ours', 46_341, 'date', '2026-11-15'],
  ['a date-time', 46_341.395833333336, 'date-time', '2026-11-15T09:30:00'],
  ['a date-time at midnight', 46_341, 'date-time', '2026-11-15T00:00:00'],
  ['a date with a time that its format hides', 46_341.75, 'date', '2026-11-15'],
  ['a time', 0.3958333333333333, 'time', '09:30:00'],
  ['a time with a date that its format hides', 46_341.5, 'time', '12:00:00'],
  ['midnight', 0, 'time', '00:00:00'],
  ['half a second before midnight, as a time', 0.999995, 'time', '23:59:59.568'],
  ['half a second before midnight, as a date-time', 46_341.999995, 'date-time', '2026-11-15T23:59:59.568'],
  ['less than a millisecond before midnight', 46_341.99999999999, 'date-time', '2026-11-16T00:00:00'],
  ['a float just below midnight, as a date', 46_340.99999999999, 'date', '2026-11-15'],
  ['milliseconds', 0.5 + 0.4 / 86_400, 'time', '12:00:00.400'],
  ['milliseconds of a date', 46_341.395833333336 + 0.007 / 86_400, 'date-time', '2026-11-15T09:30:00.007'],
  ['milliseconds rounded up', 0.5 + 0.9996 / 86_400, 'time', '12:00:01'],
  ['milliseconds of a duration', 1 + 0.25 / 86_400, 'duration', '24:00:00.250'],
  ['a duration of over a day', 1.1041666666666667, 'duration', '26:30:00'],
  ['a duration of over a hundred hours', 5, 'duration', '120:00:00'],
  ['a short duration', 90 / 86_400, 'duration', '00:01:30'],
  ['date or time, below a day', 0.5, 'date-or-time', '12:00:00'],
  ['date or time, a day or more', 46_341, 'date-or-time', '2026-11-15'],
  ['the last day', 2_958_465, 'date', '9999-12-31'],
  ['past the last day', 2_958_466, 'date', 2_958_466],
  ['rounded past the last day', 2_958_465.999999999, 'date-time', 2_958_465.999999999],
  ['a negative number', -1, 'date', -1],
  ['a negative duration', -0.5, 'duration', -0.5],
  ['day zero', 0, 'date', 0],
  ['a time of day in a date format', 0.5, 'date-time', 0.5],
  ['a number beyond all dates', 1e300, 'time', 1e300],
]

for (const [name, serial, kind, expected] of cases) {
  test(`serial: ${name}`, () => assert.equal(formatSerial(serial, kind, false), expected))
}

test('the 1904 system starts with its day zero and ends on the same last day', () => {
  assert.equal(formatSerial(0, 'date', true), '1904-01-01')
  assert.equal(formatSerial(60, 'date', true), '1904-03-01')
  assert.equal(formatSerial(44_879.5, 'date-time', true), '2026-11-15T12:00:00')
  assert.equal(formatSerial(2_957_003, 'date', true), '9999-12-31')
  assert.equal(formatSerial(2_957_004, 'date', true), 2_957_004)
})

test('every day from March 1900 on is what the calendar says', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 61, max: 2_958_465 }),
      fc.integer({ min: 0, max: 86_399 }),
      (day, second) => {
        const expected = new Date((day - 25_569) * 86_400_000 + second * 1000).toISOString().slice(0, 19)
        assert.equal(formatSerial(day + second / 86_400, 'date-time', false), expected)
      },
    ),
    { seed: 1900, numRuns: 2000 },
  )
})

const isoCases: [text: string, kind: NumberFormatKind, expected: string | number][] = [
  ['2026-11-15', 'number', '2026-11-15'],
  ['2026-11-15', 'date-time', '2026-11-15T00:00:00'],
  ['2026-11-15T09:30:00', 'number', '2026-11-15T09:30:00'],
  ['2026-11-15T09:30:00', 'date-time', '2026-11-15T09:30:00'],
  ['2026-11-15T00:00:00', 'date', '2026-11-15'],
  ['2026-11-15T09:30:00', 'time', '09:30:00'],
  ['2026-11-15T09:30', 'number', '2026-11-15T09:30:00'],
  ['2026-11-15T23:59:59.700Z', 'number', '2026-11-15T23:59:59.700'],
  ['2026-11-15T09:30:00+02:00', 'number', '2026-11-15T09:30:00'],
  ['1850-03-01', 'number', '1850-03-01'],
  ['09:30:00', 'number', '09:30:00'],
  ['T09:30:00', 'date', '09:30:00'],
  ['15.11.2026', 'date', '15.11.2026'],
  ['2026-11-15Tlunch', 'date', '2026-11-15Tlunch'],
  // As Excel writes them in Strict workbooks.
  ['PT0H11M0.000S', 'time', '00:11:00'],
  ['PT0H11M0.000S', 'number', '00:11:00'],
  ['PT9H41M28.500S', 'time', '09:41:28.500'],
  ['P1DT2H30M', 'duration', '26:30:00'],
  ['PT26H30M0S', 'duration', '26:30:00'],
  ['P', 'time', 'P'],
  ['PT', 'time', 'PT'],
  ['1899-12-30', 'date', 0],
  ['1899-12-31T00:00:00', 'date-time', '1900-01-01T00:00:00'],
  ['1900-02-27', 'date', '1900-02-28'],
  ['1900-02-28', 'date', 60],
  ['1900-03-01', 'date', '1900-03-01'],
  ['1899-12-30T09:30:00', 'time', '09:30:00'],
  ['', 'date', ''],
  ['Z', 'date', 'Z'],
]

for (const [text, kind, expected] of isoCases) {
  test(`ISO cell "${text}" shown as ${kind}`, () => assert.equal(formatIsoCell(text, kind, false), expected))
}
