import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from '../build-snapshot.ts'
import { rowJson } from '../snapshot.ts'
import { createRowGlance } from './row-glance.ts'
import { foldText } from './text-order.ts'

const words = [
  'Lamp',
  'LAMPE',
  'straße',
  'İstanbul',
  'ΟΔΟΣ',
  'a"b',
  '{x},{y}',
  '\\',
  '7',
  '🙂',
  'plain text',
  'K',
]
const needles = [...words, 'amp', 'MP', 'name', '","', '},{', 'ß', 'σ', 'no row has this', '.*', '(']

test('rows that are looked at together are judged as each by itself, in whatever order they are asked for', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom(...words), { minLength: 2, maxLength: 2 }), {
        minLength: 1,
        maxLength: 300,
      }),
      fc.constantFrom(...needles),
      fc.integer({ min: 0, max: 299 }),
      fc.integer({ min: 1, max: 9 }),
      (rows, needle, from, step) => {
        const snapshot = buildSnapshot({ rows: [['name', 'note'], ...rows] })
        const text = foldText(needle)
        const escaped = JSON.stringify(text).slice(1, -1)
        const expected = rows.map((_, at) => foldText(rowJson(snapshot, at)).includes(escaped))
        const glance = createRowGlance(snapshot, text)
        const orders = [
          rows.map((_, at) => at),
          rows.map((_, at) => at).filter((at) => at >= from && at % step === 0),
          rows.map((_, at) => at).reverse(),
        ]
        for (const positions of orders) {
          for (const at of positions) {
            const open = glance.firstOpen(at)
            assert.ok(
              open >= at && !expected.slice(at, open).includes(true),
              `row ${at} is followed by ${open}`,
            )
            // A row's comma and the next row's brace may be taken for its own: then its cells are looked at, and nothing is missed.
            if (glance.mayContain(at) !== expected[at])
              assert.ok(needle.includes('}') && !expected[at], `row ${at}`)
          }
        }
      },
    ),
    { numRuns: 150 },
  )
})
