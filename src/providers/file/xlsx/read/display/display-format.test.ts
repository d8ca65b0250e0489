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

test('before day 0 there are dates and times in the 1904 system, with a minus, and only counted time in the other', () => {
  assert.equal(show('h:mm', -0.5, true), '-12:00')
  assert.equal(show('m/d/yyyy', -1, true), '-1/2/1904')
  assert.equal(show('h:mm;"less "h:mm', -0.5, true), 'less 12:00')
  assert.equal(show('h:mm', -0.5), '-0.5')
  assert.equal(show('[h]:mm', -1.5), '-36:00')
})

test('a section of their own shows negative lengths of time with its own minus only', () => {
  for (const uses1904 of [true, false]) {
    assert.equal(show('[h]:mm;-[h]:mm;0:00', -1.5, uses1904), '-36:00')
    assert.equal(show('[h]:mm;[Red]([h]:mm)', -0.25, uses1904), '(6:00)')
  }
})

test('a code that mixes places for digits with parts of a date counts as none, as Excel takes no such code', () => {
  for (const code of ['0\\ m', '0 d', '#,##0.00 USD', '0 AM/PM', '[>1]0 m;0']) {
    assert.equal(show(code, 12.345), '12.345', code)
  }
  assert.equal(show('0" m"', 12.345), '12 m')
  assert.equal(show('0 kg', 12.345), '12 kg')
  assert.equal(show('mm:ss.0', 0.5), '00:00.0')
})

/** What Excel made of whole numbers under `[>=limit]0;00` and `[>=limit]0;00;000`: tests/ssf78.tsv of the Python package ssf. */
test('a minus is left out where a section behind a condition takes only negative numbers', () => {
  for (let limit = -5; limit <= 5; limit++) {
    for (let value = -5; value <= 6; value++) {
      const size = Math.abs(value)
      const isRest = value < limit
      const plain = String(value)
      const rest = (value < 0 && limit > 0 ? '-0' : '0') + size
      assert.equal(show(`[>=${limit}]0;00`, value), isRest ? rest : plain, `${limit} at ${value}`)
      const third = value < 0 ? `0${size}` : `00${size}`
      for (const code of [`[>=${limit}]0;00;000`, `[>=${limit}]0;00;000;@`])
        assert.equal(show(code, value), isRest ? third : plain, `${code} at ${value}`)
    }
  }
})

test('any code shows any number and any text in some way, and never fails', () => {
  const code = fc.string({
    unit: fc.constantFrom(
      ...'0#?.,%/@;E+-ymdhsgeb[]"\\_*$<>= AMP1x'.split(''),
      'General',
      '[h]',
      'AM/PM',
      '[<1]',
      '[DBNum1]',
      '[DBNum2]',
      '[DBNum3]',
      '[$-804]',
      '[$-411]',
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
