import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePlainDecimal, writePlainDecimal } from './number.ts'

const parse = (text: string) => parsePlainDecimal(text, 0, text.length)

test('plain decimals are numbers', () => {
  const spelled: Record<string, number> = {
    '0': 0,
    '5': 5,
    '-5': -5,
    '10': 10,
    '0.5': 0.5,
    '-0.5': -0.5,
    '1.10': 1.1,
    '0.00': 0,
    '5.000000000000000000': 5,
    '999999999999999': 999_999_999_999_999,
    '0.123456789012345': 0.123456789012345,
    '0.000000123': 0.000000123,
    '0.00000000000000000000000006626': 6.626e-26,
    [`0.${'0'.repeat(306)}1`]: 1e-307,
    [`0.${'0'.repeat(1000)}`]: 0,
  }
  for (const [text, value] of Object.entries(spelled)) assert.equal(parse(text), value, text)
})

test('minus zero is zero, since JSON knows no other', () => {
  for (const text of ['-0', '-0.0']) assert.ok(Object.is(parse(text), 0), text)
  assert.equal(writePlainDecimal(-0), '0')
})

test('any other spelling is not a number', () => {
  const spelledOtherwise =
    '- . .5 -.5 5. 1e5 1E5 1,5 0050 00 -01 00.5 1_000 +1 --5 1.2.3 1.-2 0x10 ٣ ５ NaN Infinity'
  const withOddEnds = ['', ' 5', '5 ', '2026-11-15', '1.0a', '1.a0']
  const tooLong = '1234567890123456 1000000000000000 0.1234567890123456 100000000000000.5'.split(' ')
  const beyondDoubles = ['9'.repeat(400), `0.${'0'.repeat(307)}1`]
  const texts = [...spelledOtherwise.split(' '), ...withOddEnds, ...tooLong, ...beyondDoubles]
  for (const text of texts) assert.ok(Number.isNaN(parse(text)), text)
})

test('only the given part of the text is read', () => {
  assert.equal(parsePlainDecimal('9,1.50,9', 2, 6), 1.5)
  assert.equal(parsePlainDecimal('12', 0, 1), 1)
})

test('exponents are written out', () => {
  assert.equal(writePlainDecimal(1e-7), '0.0000001')
  assert.equal(writePlainDecimal(-1.5e-7), '-0.00000015')
  assert.equal(writePlainDecimal(1e14), '100000000000000')
})

test('a number that no plain decimal of fifteen digits spells is not written', () => {
  const values = [0.1 + 0.2, 1e15, 1e21, 1e300, 5e-324, 2 ** 53, 1 / 3, Number.NaN, Infinity, -Infinity]
  for (const value of values) assert.equal(writePlainDecimal(value), undefined, String(value))
})

test('every decimal of up to fifteen digits is read as the nearest double and survives', () => {
  const decimals = fc.record({
    digits: fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
    places: fc.integer({ min: 0, max: 290 }),
  })
  fc.assert(
    fc.property(decimals, ({ digits, places }) => {
      const value = Number(`${digits}e-${places}`)
      const written = writePlainDecimal(value)
      assert.ok(written !== undefined)
      assert.ok(parse(written) === value)
      assert.ok(Number(written) === value)
    }),
    { seed: 4180, numRuns: 2000 },
  )
})

test('whatever is written reads back as the same number', () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      const written = writePlainDecimal(value)
      if (written !== undefined) assert.ok(parse(written) === value)
    }),
    { seed: 4180, numRuns: 2000 },
  )
})
