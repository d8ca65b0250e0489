import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createDisplayFormat } from './display-format.ts'

const show = (code: string, value: number | string, uses1904 = false): string => {
  const format = createDisplayFormat(code)
  return typeof value === 'string' ? format.text(value) : format.number(value, uses1904)
}

/** 2026-11-15 09:30:00, a Sunday. */
const MOMENT = 46341.395833333336

const shown: Record<string, [code: string, value: number | string, text: string][]> = {
  'General, in eleven characters': [
    ['General', 0, '0'],
    ['General', -1.5, '-1.5'],
    ['General', 0.1 + 0.2, '0.3'],
    ['General', 1 / 3, '0.333333333'],
    ['General', -2 / 3, '-0.666666667'],
    ['General', 1234.56789012, '1234.56789'],
    ['General', MOMENT, '46341.39583'],
    ['General', 12_345_678_901, '12345678901'],
    ['General', 123_456_789_012, '1.23457E+11'],
    ['General', 1e11, '1E+11'],
    ['General', 99_999_999_999.9, '1E+11'],
    ['General', 1.5e20, '1.5E+20'],
    ['General', 1e-5, '0.00001'],
    ['General', 0.000123456789, '0.000123457'],
    ['General', 0.00001234567, '1.23457E-05'],
    ['General', 1.23456e-7, '1.23456E-07'],
    ['General', 9.999999e-10, '1E-09'],
    ['"Total: "General', 5, 'Total: 5'],
    ['General" m"', -5, '-5 m'],
    ['', 5, '5'],
  ],
  'places for digits': [
    ['0', 0.5, '1'],
    ['0', -1234.5678, '-1235'],
    ['0.00', 1.005, '1.01'],
    ['0.00', 2.675, '2.68'],
    ['0.00', 99_999.995, '100000.00'],
    ['0.00', 1.5e20, '150000000000000000000.00'],
    ['0.00', -0.001, '-0.00'],
    ['#,##0', 123_456_789, '123,456,789'],
    ['#,##0', 12, '12'],
    ['#,##0.00', -1234.5678, '-1,234.57'],
    ['0,000', 5, '0,005'],
    ['000', 5, '005'],
    ['#', 0, ''],
    ['#.##', 5, '5.'],
    ['#.##', 0.5, '.5'],
    ['0.0#', 5, '5.0'],
    ['0.0#', 5.25, '5.25'],
    ['0.???', 5.5, '5.5  '],
    ['??0', 5, '  5'],
    ['0.#0', 5, '5.0'],
    ['#.###0', -10.29, '-10.290'],
    ['0.##0##0', 1.5, '1.500'],
    ['"about ".00" or "000', 7.12345, 'about 7.12 or 345'],
    ['.00', -12.5, '-12.50'],
  ],
  'per cent, thousands and powers': [
    ['0%', 0.25, '25%'],
    ['0%', 9.995, '1000%'],
    ['0.00%', 0.12345, '12.35%'],
    ['0,', 1_234_567, '1235'],
    ['0.0,,"M"', 1_250_000, '1.3M'],
    ['#,##0,', 1_234_567_890, '1,234,568'],
    ['0.00E+00', 1234.5678, '1.23E+03'],
    ['0.00E+00', 0, '0.00E+00'],
    ['0.00E+00', 9.995, '1.00E+01'],
    ['0.00E-00', 0.00012, '1.20E-04'],
    ['0.00E-00', 12_000, '1.20E04'],
    ['##0.0E+0', 123_456_789, '123.5E+6'],
    ['##0.0E+0', 0.00001, '10.0E-6'],
    ['##0.0E+0', 999_960, '1.0E+6'],
  ],
  'currencies, literals, padding and colours': [
    ['"$"#,##0.00', 1234.5, '$1,234.50'],
    ['[$€-407] #,##0.00', 1234.5, '€ 1,234.50'],
    ['#,##0.00\\ "€"', 1234.5, '1,234.50 €'],
    ['[$EUR] 0.00', 5, 'EUR 5.00'],
    ['0.00_);(0.00)', 5, '5.00 '],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 5, ' $5.00 '],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', -5, ' $(5.00)'],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 0, ' $-   '],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 'x', ' x '],
    ['[Red]0', 5, '5'],
    ['[Color 3]0', 5, '5'],
    ['0" h"', 5, '5 h'],
    ['(000) 000-0000', 2_125_551_234, '(212) 555-1234'],
    ['000-00-0000', 123_456_789, '123-45-6789'],
    ['0\\x', 5, '5x'],
  ],
  'sections and conditions': [
    ['0.0;(0.0)', -5, '(5.0)'],
    ['0;-0;"zero"', 0, 'zero'],
    ['0;-0;"zero"', -5, '-5'],
    ['#,##0;[Red]-#,##0', -1234, '-1,234'],
    ['0;0;', 0, ''],
    [';;;', 5, ''],
    [';;;', 'x', ''],
    ['0.00;"neg "0.00;"nil";"t: "@', 'x', 't: x'],
    ['0.00;"neg "0.00;"nil";"t: "@', -1, 'neg 1.00'],
    ['0;@', -5, '-5'],
    ['@', 5, '5'],
    ['@" kg"', 'x', 'x kg'],
    ['0.00', 'x', 'x'],
    ['[<=9999999]000-0000;(000) 000-0000', 5_551_234, '555-1234'],
    ['[<=9999999]000-0000;(000) 000-0000', 2_125_551_234, '(212) 555-1234'],
    ['[<1]h:mm;yyyy-mm-dd', 0.5, '12:00'],
    ['[<1]h:mm;yyyy-mm-dd', MOMENT, '2026-11-15'],
    ['[>100]0;[>10]0.0', 5, '5'],
    ['[<0]0.0" less";0', -5, '5.0 less'],
  ],
  'dates and times': [
    ['yyyy-mm-dd', MOMENT, '2026-11-15'],
    ['YYYY/M/D', MOMENT, '2026/11/15'],
    ['d.m.yy', 46_023, '1.1.26'],
    ['dd/mm/yyyy;@', MOMENT, '15/11/2026'],
    ['d-mmm-yy', MOMENT, '15-Nov-26'],
    ['[$-409]mmmm d, yyyy', MOMENT, 'November 15, 2026'],
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', MOMENT, 'Sunday, November 15, 2026'],
    ['ddd', MOMENT, 'Sun'],
    ['mmmmm', MOMENT, 'N'],
    ['h:mm', MOMENT, '9:30'],
    ['hh:mm:ss', MOMENT, '09:30:00'],
    ['h:mm AM/PM', MOMENT, '9:30 AM'],
    ['h:mm AM/PM', 0.5, '12:00 PM'],
    ['h:mm AM/PM', 0, '12:00 AM'],
    ['hh a/p', 0.75, '06 p'],
    ['mm:ss', 0.0107523148, '15:29'],
    ['mm:ss.0', 0.0107523148, '15:29.0'],
    ['hh:mm:ss.000', 0.395838, '09:30:00.403'],
    ['[h]:mm', 1.1041666667, '26:30'],
    ['[hh]:mm:ss', 0.0625, '01:30:00'],
    ['[mm]:ss', 1.1041666667, '1590:00'],
    ['[ss]', 0.0107523148, '929'],
    ['yyyy-mm-dd hh:mm', MOMENT, '2026-11-15 09:30'],
    ['m/d/yy h:mm', MOMENT, '11/15/26 9:30'],
    ['hh"h"mm', MOMENT, '09h30'],
    ['yyyy"T"hh', MOMENT, '2026T09'],
    ['yyyy', 59, '1900'],
    ['m/d/yyyy', 60, '2/29/1900'],
    ['m/d/yyyy', 0, '1/0/1900'],
    ['yyyy-mm-dd', 2_958_465, '9999-12-31'],
    ['yyyy-mm-dd', 2_958_466, '2958466'],
    ['yyyy-mm-dd', -1, '-1'],
    ['bbbb', MOMENT, '2569'],
    ['[$-411]ggge"年"m"月"', MOMENT, '2026年11月'],
  ],
  fractions: [
    ['# ?/?', 0.5, ' 1/2'],
    ['# ??/??', -1.25, '-1  1/4 '],
    ['# ?/?', 0, '0    '],
    ['# ?/?', 1, '1    '],
    ['# ??/??', 0.004, '0      '],
    ['# ?/?', 12345.6789, '12345 2/3'],
    ['# ??/??', 12345.6789, '12345 55/81'],
    ['# ???/???', -12345.67891, '-12345 573/844'],
    ['# ?/?', -123.456, '-123 1/2'],
    ['# ?/?', 0.99, '1    '],
    ['# ?/?', 12_345_678.9, '12345679    '],
    // The nearest fractions of the numbers as they are stored, a little below or above three tenths.
    ['# ?/?', 0.3, ' 2/7'],
    ['# ?/?', 1.3, '1 1/3'],
    ['# ?/2', 12.3, '12 1/2'],
    ['# ?/4', 123.45, '123 2/4'],
    ['# ??/16', -1.2, '-1  3/16'],
    ['# ?/10', 123.45, '123 5/10'],
    ['# ??/100', 1234.567, '1234 57/100'],
    ['# ??/100', 1.999, '2       '],
    ['??/??', 1, ' 1/1 '],
    ['??/??', -12.34, '-617/50'],
    ['??/??', 0.00001, ' 0/1 '],
    ['#0#00??/??', 12.3456789, '01000/81'],
    ['0 0/0', 1, '1 0/1'],
    ['0 ?/?', 0.5, '0 1/2'],
    ['# #/#', 123, '123'],
    ['# #/#', 12.345, '12 1/3'],
    ['# #/#', 0.5, '1/2'],
    ['#,##0 ?/?', 1234.5, '1,234 1/2'],
    ['# ?? / ?????????', 0.123251512342345, ' 480894 / 3901729  '],
    ['# ?/?" in";(# ?/?" in")', -2.25, '(2 1/4 in)'],
    ['# ?/?', 1e20, '100000000000000000000    '],
    ['?/', 0.5, '0.5'],
  ],
  'texts and text formats': [
    ['0;-0;0;General', 'x', 'x'],
    ['[Red]0;0;0;[Yellow]General\\ ', 'x', 'x '],
    ['General;General;General', 'x', 'x'],
    ['0.0', 'x', 'x'],
    ['@@', 'x', 'xx'],
    ['@@', 5, '5'],
    ['@" kg"', -5, '-5'],
  ],
  'negative times': [
    ['[h]', -1.2, '-28'],
    ['[mm]" min"', -0.5, '-720 min'],
    ['[ss]', -0.5, '-43200'],
    ['[h]:mm', -0.5, '-0.5'],
    ['h:mm', -0.5, '-0.5'],
  ],
  'dates and times of the system, as English Excel has them': [
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 46_023, 'Thursday, January 1, 2026'],
    ['[$-F400]h:mm:ss\\ AM/PM', 0.5, '12:00:00 PM'],
    ['[$-F400]hh:mm', 0.25, '6:00:00 AM'],
    ['[$-x-sysdate]dddd, mmmm dd, yyyy', 46_023, 'Thursday, January 1, 2026'],
    ['hh:mm am/pm', 0.75, '06:00 PM'],
  ],
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
