import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyDisplayedOtherwise } from './displayed-otherwise.ts'

const cell = (kind: string, code: string, value: number, own: string, their: string, uses1904 = false) => ({
  kind,
  code,
  value,
  isCalculated: false,
  uses1904,
  own,
  their,
})

test('what LibreOffice is known to show otherwise has its reason', () => {
  const known = [
    [cell('date', 'm/d/yyyy', 59, '2/28/1900', '2/27/1900'), 'days before March 1900'],
    [cell('time', 'h:mm', -0.5, '-12:00', '12:00', true), 'dates and times before day 0'],
    [cell('date', 'yyyy', 2_958_465, '2958465', '10004', true), 'years past 9999'],
    [cell('time', 'h:mm:ss', 0.999, '23:58:34', '23:58:33'), 'seconds cut, not rounded'],
    [cell('General', 'General', 1 / 3, '0.333333333', '0.333333333333333'), 'General with 15 digits'],
    [cell('percent', '0.0%', 0.1785, '17.9%', '17.8%'), 'rounded past 15 digits'],
    [cell('number', '#0.#', 0, '0.', '0'), 'no point without decimals'],
    [cell('other', '"x"', -3, '-x', 'x'), 'no minus without digits'],
    [cell('number', '0 kg', 5, '5 kg', '5'), 'letters that are not in quotes'],
    [cell('other', '[=1]"one";[=2]"two";0', -3, '-3', '3'), 'no minus behind two conditions'],
  ] as const
  for (const [shown, reason] of known) assert.equal(whyDisplayedOtherwise('LibreOffice', shown), reason)
})

test('a wrong digit, a wrong day and a wrong word are never explained away', () => {
  const wrong = [
    cell('date', 'm/d/yyyy', 61, '3/2/1900', '3/1/1900'),
    cell('date', 'm/d/yyyy', 1, '1/2/1904', '1/3/1904', true),
    cell('time', 'h:mm:ss', 0.25, '6:00:01', '6:00:00'),
    cell('General', 'General', 0.5, '0.4', '0.5'),
    cell('percent', '0.0%', 0.25, '25.1%', '25.0%'),
    cell('number', '0" kg"', 5, '5 g', '5 kg'),
    cell('number', '[<0]0;[>9]00;0', 3, '4', '3'),
    cell('number', '[>9]0;0', -3, '-3', '3'),
    cell('number', '0;0;0', -3, '-3', '3'),
  ]
  for (const shown of wrong) {
    assert.equal(whyDisplayedOtherwise('LibreOffice', shown), undefined, shown.own)
    assert.equal(whyDisplayedOtherwise('exports', shown), undefined, shown.own)
  }
})

test("an export of Excel differs by the system's short date only", () => {
  const short = cell('date', 'm/d/yyyy', 39_045, '11/24/2006', '11/24/06')
  assert.equal(whyDisplayedOtherwise('exports', short), 'the short date of that system')
  assert.equal(whyDisplayedOtherwise('exports', { ...short, their: '11/25/06' }), undefined)
  assert.equal(whyDisplayedOtherwise('exports', { ...short, code: 'mm/dd/yyyy' }), undefined)
})
