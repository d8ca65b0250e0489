import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseNumber, writeNumber } from './number.ts'

const parse = (text: string) => parseNumber(text, 0, text.length)

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

test('what programs write by default is a number as well', () => {
  const spelled: Record<string, number> = {
    '.5': 0.5,
    '-.31095999': -0.31095999,
    '.0': 0,
    '-.0': 0,
    '1.00E+05': 100_000,
    '1e-07': 1e-7,
    '1e+16': 1e16,
    '1E-05': 0.00001,
    '-6.62607015e-34': -6.62607015e-34,
    '1.5E10': 1.5e10,
    '.5e1': 5,
    '0.00E+00': 0,
    '1.000000000000000000e+00': 1,
    '1e+300': 1e300,
    ' 5': 5,
    '5  ': 5,
    '   -1.50 ': -1.5,
    ' .5e+1 ': 5,
  }
  for (const [text, value] of Object.entries(spelled)) assert.ok(Object.is(parse(text), value), text)
})

test('minus zero is zero, since JSON knows no other', () => {
  for (const text of ['-0', '-0.0']) assert.ok(Object.is(parse(text), 0), text)
  assert.equal(writeNumber(-0), '0')
})

test('any other spelling is not a number', () => {
  const spelledOtherwise =
    '- . -. .e5 5. 5.e1 1e5 12E5 1e 1.5e 1e+ 1e+1234 01e+5 1,5 0050 00 -01 00.5 1_000 +1 +.5 --5 1.2.3 1.-2 0x10 ٣ ５ NaN Infinity'
  const withOddEnds = ['', ' ', '- 5', '5 5', '\u00A05', '5\t', '2026-11-15', '1.0a', '1.a0', '1e+5a']
  const tooLong =
    '1234567890123456 1000000000000000 0.1234567890123456 .1234567890123456 1.234567890123456e+5 100000000000000.5 1000000000000000.0'.split(
      ' ',
    )
  const beyondDoubles = ['9'.repeat(400), `0.${'0'.repeat(307)}1`, '1e+309', '1e-308', '1e-400', '-1.5e+999']
  const texts = [...spelledOtherwise.split(' '), ...withOddEnds, ...tooLong, ...beyondDoubles]
  for (const text of texts) assert.ok(Number.isNaN(parse(text)), text)
})

test('only the given part of the text is read', () => {
  assert.equal(parseNumber('9,1.50,9', 2, 6), 1.5)
  assert.equal(parseNumber('9,1.5e+1', 2, 8), 15)
  assert.equal(parseNumber('12', 0, 1), 1)
  assert.equal(parseNumber('1.5e+12', 0, 6), 15)
})

test('a plain decimal is written where there is one', () => {
  assert.equal(writeNumber(1e-7), '0.0000001')
  assert.equal(writeNumber(-1.5e-7), '-0.00000015')
  assert.equal(writeNumber(1e14), '100000000000000')
  assert.equal(writeNumber(1e15), '1e+15')
  assert.equal(writeNumber(-1.5e300), '-1.5e+300')
})

test('a number that fifteen digits do not spell is not written', () => {
  const values = [0.1 + 0.2, 5e-324, 2 ** 53, 1 / 3, Number.NaN, Infinity, -Infinity]
  for (const value of values) assert.equal(writeNumber(value), undefined, String(value))
})

test('every decimal of up to fifteen digits is read as the nearest double and survives', () => {
  const decimals = fc.record({
    digits: fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
    places: fc.integer({ min: 0, max: 290 }),
  })
  fc.assert(
    fc.property(decimals, ({ digits, places }) => {
      const value = Number(`${digits}e-${places}`)
      const written = writeNumber(value)
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
      const written = writeNumber(value)
      if (written !== undefined) assert.ok(parse(written) === value)
    }),
    { seed: 4180, numRuns: 2000 },
  )
})
