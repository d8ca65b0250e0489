import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SerialKind } from './serial-text.ts'
import { shownAs } from './shown-kind.ts'

const day = 46_341 // Sunday, 2026-11-15
const halfPastNine = 34_200 / 86_400
const morning = day + halfPastNine
const evening = day + (21 * 3_600 + 5 * 60 + 7) / 86_400

const cases: [number, string, SerialKind][] = [
  [day, '2026-11-15', 'date'],
  [day, '15/11/2026', 'date'],
  [day, '11/15/2026', 'date'],
  [day, '15.11.2026', 'date'],
  [day, '15.11.', 'date'],
  [day, '15.11.26', 'date'],
  [day, '15-Nov-2026', 'date'],
  [day, 'Sunday, November 15, 2026', 'date'],
  [day, '2026年11月15日', 'date'],
  [day, '2026. 11. 15', 'date'],
  [day, '15 ноября 2026 г.', 'date'],
  [day, '١٥/١١/٢٠٢٦', 'date'],
  [day, '15 พ.ย. 2569', 'date'],
  [day, '15. marraskuuta 2026', 'date'],
  [day, 'Nov-26', 'date'],
  [day, '2026', 'date'],
  [day, '15', 'date'],
  [day, 'Sunday', 'date'],
  [day, 'November', 'date'],
  [morning, '2026-11-15', 'date'],
  [60 + halfPastNine, '28/02/1900', 'date'],
  [-1, '29/12/1899', 'date'],
  [morning, '2026-11-15 9:30:00', 'date-time'],
  [morning, '11/15/2026 9:30:00', 'date-time'],
  [morning, '11/15/2026 9:30 AM', 'date-time'],
  [evening, 'Nov 15, 2026, 9:05:07 PM', 'date-time'],
  [morning, '15.11.2026 9.30.00', 'date-time'],
  [morning, '15.11.2026 klo 9.30', 'date-time'],
  [evening, '15/11/2026 21.05.07', 'date-time'],
  [morning, '2026年11月15日 9時30分', 'date-time'],
  [morning, '2026. 11. 15 오전 9:30:00', 'date-time'],
  [morning, '15/11/2026 à 9h30', 'date-time'],
  [morning, 'Sun 9:30', 'date-time'],
  [day, '2026-11-15 0:00:00', 'date-time'],
  [day, '11/15/2026 12:00:00 AM', 'date-time'],
  [halfPastNine, '30/12/1899 09:30:00', 'date-time'],
  [halfPastNine, '9:30:00', 'time'],
  [halfPastNine, '09:30', 'time'],
  [halfPastNine, '9:30 AM', 'time'],
  [halfPastNine, '9:30:00 a. m.', 'time'],
  [halfPastNine, '9:30 Uhr', 'time'],
  [halfPastNine, '9.30.00', 'time'],
  [halfPastNine, '9h30', 'time'],
  [halfPastNine, '9 AM', 'time'],
  [halfPastNine, '午前9時30分', 'time'],
  [halfPastNine, '오전 9:30:00', 'time'],
  [halfPastNine, '٩:٣٠:٠٠ ص', 'time'],
  [halfPastNine, '570:00', 'time'],
  [halfPastNine, '34200', 'time'],
  [0, '0:00:00', 'time'],
  [evening, '9:05:07 PM', 'time'],
  [evening, '21:05', 'time'],
  [1.0625, '25:30:00', 'elapsed'],
  [1.0625, '1:30:00', 'time'],
  [1, '24:00', 'elapsed'],
  [10.5, '252:00:00', 'elapsed'],
  [1.0625, '1530:00', 'elapsed'],
  [1.0625, '91800', 'elapsed'],
  [1.0625, '25.30.00', 'elapsed'],
  [-0.0625, '-1:30:00', 'elapsed'],
  [46_341.000_011_574, '1112184:00:01', 'elapsed'],
]

test('what a cell shows tells a date from a time, in the writing of many countries', () => {
  for (const [serial, text, kind] of cases) {
    assert.equal(shownAs(serial, text).kind, kind, `${serial} shown as "${text}"`)
  }
})

test('the text of another value is doubted', () => {
  assert.equal(shownAs(day, '2026-11-15').isPlausible, true)
  assert.equal(shownAs(morning, '11/15/2026 9:30:00').isPlausible, true)
  assert.equal(shownAs(day, '2026-11-16').isPlausible, false)
  assert.equal(shownAs(5, 'Room 17').isPlausible, false)
  assert.equal(shownAs(5, 'hello').isPlausible, false)
})

test('no text is too odd to be judged', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.string({ unit: 'grapheme' }), (serial, text) => {
      assert.match(shownAs(serial, text).kind, /^(?:date|date-time|time|elapsed)$/)
    }),
    { seed: 3, numRuns: 2_000 },
  )
})
