import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localeOf } from './locale.ts'
import { displayNumber } from './number-format.ts'
import { readTyped } from './typed-input.ts'

const american = localeOf('en_US')

const typed: [text: string, value: unknown, shown: string | undefined][] = [
  ['0042', { numberValue: 42 }, '42'],
  ['1.5', { numberValue: 1.5 }, '1.5'],
  ['1,234.5', { numberValue: 1234.5 }, '1,234.50'],
  ['50%', { numberValue: 0.5 }, '50%'],
  ['$1,234.25', { numberValue: 1234.25 }, '$1,234.25'],
  ['2020-01-01', { numberValue: 43831 }, '2020-01-01'],
  ['1/2/1999', { numberValue: 36162 }, '1/2/1999'],
  ['12:30', { numberValue: 0.5208333333333334 }, '12:30'],
  ['1:30 PM', { numberValue: 0.5625 }, '1:30 PM'],
  ['2020-01-01 06:00:00', { numberValue: 43831.25 }, '2020-01-01 6:00:00'],
  ['true', { boolValue: true }, undefined],
  ["'007", { stringValue: '007' }, undefined],
  ['3_1_0', { stringValue: '3_1_0' }, undefined],
  ['2020-02-30', { stringValue: '2020-02-30' }, undefined],
  ['=1+1', { formulaValue: '=1+1' }, undefined],
]

for (const [text, value, shown] of typed) {
  test(`typing ${text} is understood and displayed as a person would see it`, () => {
    const read = readTyped(text, american)
    assert.deepEqual(read.value, value)
    if ('numberValue' in read.value) {
      assert.equal(displayNumber(read.value.numberValue, read.format, american), shown)
    }
  })
}

test('patterns: groups, padding, negatives, optional digits, exponents', () => {
  const shown = (value: number, pattern: string) =>
    displayNumber(value, { type: 'NUMBER', pattern }, american)
  assert.equal(shown(1234567.891, '#,##0.00'), '1,234,567.89')
  assert.equal(shown(7, '000'), '007')
  assert.equal(shown(-5, '0.0;(0.0)'), '(5.0)')
  assert.equal(shown(1.5, '0.##'), '1.5')
  assert.equal(shown(12345, '0.00E+00'), '1.23E+04')
})
