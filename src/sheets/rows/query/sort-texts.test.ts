import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../../test/processor-time.ts'
import { sized } from '../../../../test/soak.ts'
import { foldTexts } from './folded-texts.ts'
import { sortTexts } from './sort-texts.ts'
import { foldText } from './text-order.ts'

const seed = 20_261_117

/** Alike for long, of all lengths, from every plane, with zeros and letters that grow when folded. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'A'), maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('a', '\0', '😀', 'ﬀ', '\uffff', 'İ', 'Σ', 'é', '\ud83d', '\ude00'),
    maxLength: 8,
  }),
  fc
    .tuple(fc.constantFrom('The same beginning, then ', 'The same '), fc.nat(3_000))
    .map(([start, n]) => start + n),
  fc.nat(500).map((length) => 'a'.repeat(length)),
)

test('texts are folded together as each alone', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
      const { units, starts } = foldTexts(texts)
      const unfolded = texts.map((_, at) => textOf(units.subarray(starts[at], (starts[at + 1] ?? 0) - 1)))
      assert.deepEqual(
        unfolded,
        texts.map((each) => foldText(each)),
      )
    }),
    { seed, numRuns: sized(100, 300) },
  )
  const many = Array.from({ length: 5_000 }, (_, n) => (n === 1_500 ? 'İ' : `Text ${n}`))
  const { units, starts } = foldTexts(many)
  assert.equal(textOf(units.subarray(starts[4_999], (starts[5_000] ?? 0) - 1)), 'text 4999')
})

test('no letter gets shorter when it is folded, which folding many at once relies on', () => {
  for (let point = 0; point <= 0x10ffff; point++) {
    const letter = String.fromCodePoint(point)
    if (letter.toLowerCase().length < letter.length) assert.fail(`U+${point.toString(16)}`)
  }
})

test('texts are sorted by code point, and it is known which are equal', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 200, size: 'max' }), (texts) => {
      const { order, isNew } = sortTexts(foldTexts(texts))
      const sorted = Array.from(order, (at) => foldText(texts[at] ?? ''))
      assert.deepEqual(sorted, texts.map((each) => foldText(each)).sort(byCodePoint))
      assert.deepEqual(
        [...isNew],
        sorted.map((each, at) => Number(at === 0 || each !== sorted[at - 1])),
      )
    }),
    { seed, numRuns: 100 },
  )
})

test('texts made to be alike for as long as possible take no longer than they are long', async () => {
  const texts = Array.from({ length: 3_000 }, (_, n) => 'a'.repeat(n * 3))
  const folded = foldTexts(texts.toReversed())
  let order: Uint32Array = new Uint32Array()
  const workedMs = await processorMs(() => {
    order = sortTexts(folded).order
  })
  assert.equal(order[0], 2_999)
  assert.equal(order[2_999], 0)
  // A sort that begins anew at each level would take minutes.
  assert.ok(workedMs < 5_000)
})

/** Halves of a surrogate pair count as what they are half of: higher than all else. */
function byCodePoint(one: string, other: string): number {
  const ranks = (each: string) =>
    Array.from({ length: each.length }, (_, at) => {
      const unit = each.charCodeAt(at)
      return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
    })
  const [left, right] = [ranks(one), ranks(other)]
  const differs = left.findIndex((rank, at) => rank !== right[at])
  return differs === -1 ? left.length - right.length : (left[differs] ?? 0) - (right[differs] ?? -1)
}

function textOf(units: Uint16Array): string {
  return Array.from(units, (unit) => String.fromCharCode(unit)).join('')
}
