import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type LoggedChange, textsOfChanges } from './logged-change.ts'

test('texts of changes are those of JSON.stringify, however long, and whatever stands where they are cut', () => {
  const part = fc.constantFrom('"\\', '😀', '\uD83D', '\uDE00', 'x', '\n', 'Ж', '\u2028')
  const row = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 7 }), fc.constantFrom(1, 40_000))
    .map(([parts, times]) => parts.join('').repeat(times))
  const change = fc.record<LoggedChange>(
    {
      kind: fc.constantFrom('updated', 'deleted'),
      row: fc.nat(),
      before: row,
      after: row,
      changed: fc.array(fc.string()),
      operation: fc.constantFrom('op_1', undefined as never),
    },
    { requiredKeys: ['kind'] },
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5 }), (changes) => {
      const { texts } = inSteps(changes)
      assert.ok(texts.every((text, nth) => text === JSON.stringify(changes[nth])))
    }),
    { numRuns: 30 },
  )
})

test('a change that tells of megabytes is made into text in steps, and so are thousands of short ones', () => {
  const text = '"\\'.repeat(1_000_000)
  assert.ok(inSteps([{ kind: 'updated', row: 2, before: text, after: text }]).steps > 20)
  const short = Array.from(
    { length: 10_000 },
    (_, row): LoggedChange => ({ kind: 'added', row, after: '{"a":1}' }),
  )
  assert.ok(inSteps(short).steps >= 3)
})

function inSteps(changes: readonly LoggedChange[]): { texts: string[]; steps: number } {
  const made = textsOfChanges(changes)
  for (let steps = 0; ; steps++) {
    const step = made.next()
    if (step.done) return { texts: step.value, steps }
  }
}
