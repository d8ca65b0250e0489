import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFormat, type NumberFormatKind, parseNumberFormat } from './number-format.ts'

const kinds: Record<NumberFormatKind, string[]> = {
  number: [
    'General',
    'GENERAL',
    '0',
    '0.00',
    '#,##0.00;[Red]-#,##0.00',
    '0%',
    '0.00E+00',
    '##0.0E+0',
    '# ?/?',
    '@',
    '',
    ';;;',
    '[$€-407] #,##0.00',
    '[$EUR] 0.00',
    '0.00 "days"',
    '0" h"',
    '0\\h',
    '0_d',
    '*d0',
    '"Total: "General',
    'General" m"',
    '[Red]0',
    '[Blue][<100]0;[Red]0',
    '[<=9999999]###-####;(###) ###-####',
    '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-',
    '"yyyy-mm-dd',
    '0 "Stück"',
    `0${'d'.repeat(300)}`,
    'd'.repeat(256),
  ],
  date: [
    'yyyy-mm-dd',
    'YYYY-MM-DD',
    'dd/mm/yyyy',
    'd.m.yy',
    'd. mmmm yyyy',
    'mmm yy',
    'mm',
    'm',
    'dddd',
    'aaaa',
    '[$-411]aaa',
    'yyyy-mm-dd;@',
    '[$-409]d-mmm-yy;@',
    '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy',
    '[$-411]ggge"年"m"月"d"日"',
    '[$-404]e/m/d',
    'yyyy"年"m"月"',
    '[Red]dd/mm/yyyy',
    '"Due: "dd\\.mm\\.yyyy',
    '"hh:mm "dd/mm',
    'dd/mm\\h',
    '[$-D070000]d/mm/bb',
    '[Color 3]yyyy',
  ],
  'date-time': [
    'yyyy-mm-dd hh:mm',
    'yyyy\\-mm\\-dd\\ hh:mm:ss',
    'm/d/yy h:mm',
    '[$-409]m/d/yy h:mm AM/PM;@',
    'yyyy-mm-dd"T"hh:mm:ss.000',
    'h:mm d/m',
    'd h',
    'd [h]:mm',
    'hh mmm',
  ],
  time: [
    'h:mm',
    'hh:mm:ss',
    'HH:MM',
    'h:mm AM/PM',
    'h AM/PM',
    'h:mm a/p',
    'mm:ss',
    'mm:ss.0',
    'mmss.0',
    '[$-F400]h:mm:ss\\ AM/PM',
    'h"時"mm"分"ss"秒"',
    'ss',
    'hh"d"mm',
    'hh:mm;@',
    'hh:mm_d',
    'hh:mm*d',
  ],
  duration: [
    '[h]:mm',
    '[hh]:mm:ss',
    '[H]:MM',
    '[m]:ss',
    '[mm]',
    '[mm]:ss',
    '[s]',
    '[ss].00',
    '[h]"d"',
    '[Red][h]:mm',
  ],
  'date-or-time': [],
}

for (const [kind, codes] of Object.entries(kinds)) {
  for (const code of codes) {
    const shown = code.length > 60 ? `${code.slice(0, 20)}… (${code.length} characters)` : code
    test(`format ${shown} is ${kind}`, () => assert.equal(parseNumberFormat(code)(1), kind))
  }
}

test('a format with conditions is chosen by the number', () => {
  const format = parseNumberFormat('[<1]h:mm;[>=100000]0;yyyy-mm-dd')
  assert.deepEqual([0.5, 1, 99_999, 100_000].map(format), ['time', 'date', 'date', 'number'])
  const others = parseNumberFormat('[=1]0;[<>2]h:mm;[>2]d;d')
  assert.deepEqual([1, 3, 2].map(others), ['number', 'time', 'date'])
  const bounds = parseNumberFormat('[<=1]h:mm;[>1.5]d;0')
  assert.deepEqual([1, 1.2, 1.5, 2].map(bounds), ['time', 'number', 'number', 'date'])
})

test('formats that have only an id', () => {
  const expected: [ids: number[], kind: NumberFormatKind][] = [
    [[0, 1, 4, 9, 13, 23, 26, 37, 44, 48, 49, 59, 70, 82, 163, Number.NaN], 'number'],
    [[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 54, 57, 58, 71, 81], 'date'],
    [[18, 19, 20, 21, 32, 33, 45, 47, 75, 76, 78, 80], 'time'],
    [[22, 77], 'date-time'],
    [[46, 79], 'duration'],
    [[34, 35, 52, 53, 55, 56], 'date-or-time'],
  ]
  for (const [ids, kind] of expected) {
    for (const id of ids) assert.equal(builtInFormat(id)(1), kind, `id ${id}`)
  }
})
