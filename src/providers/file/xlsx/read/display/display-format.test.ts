import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { shown } from './display-cases.fixture.ts'
import { createDisplayFormat } from './display-format.ts'

const show = (code: string, value: number | string, uses1904 = false): string => {
  const format = createDisplayFormat(code)
  return typeof value === 'string' ? format.text(value) : format.number(value, uses1904)
}

for (const [what, cases] of Object.entries(shown)) {
  describe(what, () => {
    for (const [code, value, text] of cases) {
      test(`${code} shows ${value} as "${text}"`, () => assert.equal(show(code, value), text))
    }
  })
}

test('the 1904 date system', () => assert.equal(show('yyyy-mm-dd', 44_879, true), '2026-11-15'))

test('any code shows any number and any text in some way, and never fails', () => {
  const code = fc.string({
    unit: fc.constantFrom(
      ...'0#?.,%/@;E+-ymdhsgeb[]"\\_*$<>= AMP1x'.split(''),
      'General',
      '[h]',
      'AM/PM',
      '[<1]',
    ),
    maxLength: 20,
  })
  fc.assert(
    fc.property(
      code,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      (text, value, uses1904) => {
        const format = createDisplayFormat(text)
        assert.equal(typeof format.number(value, uses1904), 'string')
        assert.doesNotMatch(format.number(value, uses1904), /undefined|NaN/)
        assert.equal(typeof format.text('x'), 'string')
      },
    ),
    { seed: 18, numRuns: 2000 },
  )
})

test('fixed decimals are those of the number', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.nat({ max: 4 }), (digits, decimals) => {
      const code = decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`
      const value = digits / 10 ** decimals
      assert.equal(show(code, value), (value + 0).toFixed(decimals))
    }),
    { seed: 18, numRuns: 500 },
  )
})
