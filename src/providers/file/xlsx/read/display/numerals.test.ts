import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDisplayFormat } from './display-format.ts'

const show = (code: string, value: number): string => createDisplayFormat(code).number(value, false)

/** What Excel made of 123456789 under `0000000000` and of the powers of ten, to 10^12, under General: the table of the Python package ssf. */
const byExcel = `
1 404 ○一二三四五六七八九 一十 一百 一千 一萬 一十萬 一百萬 一千萬 一億 一十億 一百億 一千億 一兆
1 411 〇一二三四五六七八九 十 百 千 一万 十万 百万 千万 一億 十億 百億 千億 一兆
1 804 ○一二三四五六七八九 一十 一百 一千 一万 一十万 一百万 一千万 一亿 一十亿 一百亿 一千亿 一兆
2 404 零壹貳參肆伍陸柒捌玖 壹拾 壹佰 壹仟 壹萬 壹拾萬 壹佰萬 壹仟萬 壹億 壹拾億 壹佰億 壹仟億 壹兆
2 411 〇壱弐参四伍六七八九 壱拾 壱百 壱阡 壱萬 壱拾萬 壱百萬 壱阡萬 壱億 壱拾億 壱百億 壱阡億 壱兆
2 804 零壹贰叁肆伍陆柒捌玖 壹拾 壹佰 壹仟 壹万 壹拾万 壹佰万 壹仟万 壹亿 壹拾亿 壹佰亿 壹仟亿 壹兆
3 404 ０１２３４５６７８９ １十 １百 １千 １萬 １十萬 １百萬 １千萬 １億 １十億 １百億 １千億 １兆
3 411 ０１２３４５６７８９ 十 百 千 １万 十万 百万 千万 １億 十億 百億 千億 １兆
3 804 ０１２３４５６７８９ １十 １百 １千 １万 １十万 １百万 １千万 １亿 １十亿 １百亿 １千亿 １兆`

for (const row of byExcel.trim().split('\n')) {
  const [style, language, digits, ...powers] = row.split(' ')
  test(`the digits and the powers of ten in [DBNum${style}][$-${language}]`, () => {
    const code = `[DBNum${style}][$-${language}]`
    assert.equal(show(`${code}0000000000`, 123_456_789), digits)
    const shown = powers.map((_, at) => show(`${code}General`, 10 ** (at + 1)))
    assert.deepEqual(shown, powers)
  })
}

const cases: Record<string, [code: string, value: number, text: string][]> = {
  // As Excel for Mac 16.113 printed them, from the tests of ja-office-fixes.
  'Japanese numbers': [
    ['[DBNum1][$-411]General', 0, '〇'],
    ['[DBNum1][$-411]General', 89, '八十九'],
    ['[DBNum1][$-411]General', 101, '百一'],
    ['[DBNum1][$-411]General', 1100, '千百'],
    ['[DBNum1][$-411]General', 1234, '千二百三十四'],
    ['[DBNum1][$-411]General', 10_010, '一万十'],
    ['[DBNum1][$-411]General', 11_000, '一万千'],
    ['[DBNum1][$-411]General', 11_000_000, '千百万'],
    ['[DBNum1][$-411]General', 100_010_000, '一億一万'],
    ['[DBNum1][$-411]General', 1_234_567_890_123, '一兆二千三百四十五億六千七百八十九万百二十三'],
    ['[DBNum1][$-411]General', 1e16, '一〇〇〇〇兆'],
    ['[DBNum1][$-411]General', 123_456_789_012_345_000, '一二三四五六兆七千八百九十億千二百三十四万五千'],
    ['[DBNum1][$-411]General', 1e20, '一〇〇〇〇〇〇〇〇兆'],
    ['[DBNum1][$-411]General', 1234.5678, '千二百三十四.五六七八'],
    ['[DBNum1][$-411]General', 46_027.211863425924, '四万六千二十七.二一一八六三四二五九'],
    ['[DBNum1][$-411]General', 0.001, '〇.〇〇一'],
    ['[DBNum1][$-411]General', -0.5, '-〇.五'],
    ['[DBNum2][$-411]General', 110, '壱百壱拾'],
    ['[DBNum2][$-411]General', 12_345, '壱萬弐阡参百四拾伍'],
    ['[DBNum2][$-411]General', 1e16, '壱〇〇〇〇兆'],
    ['[DBNum2][$-411]General', 0.001, '〇.〇〇壱'],
    ['[DBNum3][$-411]General', 1234, '千２百３十４'],
    ['[DBNum3][$-411]General', 101, '百１'],
    ['[DBNum3][$-411]General', -0.5, '-０.５'],
    ['[DBNum1][$-411]0', 1234.567, '一二三五'],
    ['[DBNum1][$-411]0.00', 1234.567, '一二三四.五七'],
    ['[DBNum1][$-411]#,##0', 1234, '一,二三四'],
    ['[DBNum2][$-411]#,##0.00', 1234, '壱,弐参四.〇〇'],
    ['[DBNum3][$-411]#,##0"円"', 1234.567, '１,２３５円'],
    ['[DBNum1][$-411]0;"△"0', -1234, '△1234'],
  ],
  'Japanese dates and times': [
    ['[DBNum1][$-411]yyyy"年"m"月"d"日"', 46_303.54513888889, '二〇二六年十月八日'],
    ['[DBNum1][$-411]h"時"mm"分"', 46_303.54513888889, '十三時〇五分'],
    ['[DBNum1][$-411]h"時"mm"分"', 36_535.854166666664, '二十時三十分'],
    ['[DBNum1][$-411]dd', 46_027, '〇五'],
    ['[DBNum1][$-411]yy', 46_027, '二十六'],
    ['[DBNum1][$-411]yy', 40_210, '十'],
    ['[DBNum1][$-411]h:mm:ss', 46_386.9796875, '二十三:三十:四十五'],
    ['[DBNum1][$-411]h:mm:ss', 40_210, '〇:〇〇:〇〇'],
    ['[DBNum2][$-411]hh:mm', 46_386.9796875, '弐拾参:参拾'],
    ['[DBNum2][$-411]m"月"d"日"', 36_535, '壱月壱拾日'],
    ['[DBNum3][$-411]h:mm', 46_027.211863425924, '５:０５'],
  ],
  // The workbook 49273.xlsx, comments in the tests of dates, and the names of the numerals in public articles.
  Chinese: [
    ['[DBNum1][$-804]General', 12_323, '一万二千三百二十三'],
    ['[DBNum2][$-804]General', 123, '壹佰贰拾叁'],
    ['[DBNum1][$-zh-CN]General', 12_323, '一万二千三百二十三'],
    ['[$-804][DBNum2]General', 123, '壹佰贰拾叁'],
    ['[DBNum1][$-804]', 10, '一十'],
    ['[DBNum1][$-804]d', 10, '十'],
    ['[DBNum1][$-804]0', 37, '三七'],
    ['[DBNum2][$-404]General"元整"', 472, '肆佰柒拾貳元整'],
    ['[DBNum1][$-404]m"月"d"日";@', 42_712, '十二月八日'],
    ['[DBNum1][$-804]yyyy"年"m"月"d"日";@', 42_138, '二○一五年五月十四日'],
    ['[DBNum2][$-804]yyyy"年"m"月"d"日";@', 42_712, '贰零壹陆年壹拾贰月捌日'],
    ['[DBNum3][$-804]yyyy"年"m"月"d"日";@', 42_712, '２０１６年１２月８日'],
  ],
  // By LibreOffice, which has the same rule for them in both of its Chinese languages.
  'zeros between Chinese digits': [
    ['[DBNum2][$-804]General', 0, '零'],
    ['[DBNum2][$-804]General', 101, '壹佰零壹'],
    ['[DBNum2][$-804]General', 1001, '壹仟零壹'],
    ['[DBNum2][$-804]General', 1010, '壹仟零壹拾'],
    ['[DBNum2][$-804]General', 10_100, '壹万零壹佰'],
    ['[DBNum2][$-804]General', 101_000, '壹拾万壹仟'],
    ['[DBNum2][$-804]General', 1_000_100, '壹佰万零壹佰'],
    ['[DBNum2][$-804]General', 100_000_001, '壹亿零壹'],
    ['[DBNum2][$-804]General', 100_001_000, '壹亿零壹仟'],
    ['[DBNum2][$-804]General', 101_000_000, '壹亿零壹佰万'],
    ['[DBNum2][$-404]General', 12_345_678_901, '壹佰貳拾參億肆仟伍佰陸拾柒萬捌仟玖佰零壹'],
    ['[DBNum2][$-404]General', -1234, '-壹仟貳佰參拾肆'],
  ],
  'digits stay': [
    // Without a language Excel goes by the system's, and ours is English.
    ['[DBNum1]General', 1234, '1234'],
    ['[DBNum1]', 1234, '1234'],
    ['[DBNum2]0', 1234, '1234'],
    ['[DBNum1][$-409]General', 1234, '1234'],
    ['[DBNum4][$-411]General', 1234, '1234'],
    // In texts of the format.
    ['[DBNum1][$-804]"ID1: "General" 2"', 1234, 'ID1: 一千二百三十四 2'],
    ['[DBNum1][$-804]"No 1 "0', 12, 'No 1 一二'],
    // Where nobody has told what Excel does.
    ['[DBNum1][$-804]General', 1e16, '1E+16'],
    ['[DBNum1][$-411]General', 1e300, '1E+300'],
    ['[DBNum1][$-411]General', 1e-300, '1E-300'],
    ['[DBNum1][$-411]0.00E+00', 1234, '1.23E+03'],
    ['[DBNum1][$-411]# ?/?', 1.5, '1 1/2'],
    ['[DBNum1][$-411][h]:mm', 1.5, '36:00'],
    ['[DBNum1][$-411]ss.0', 0, '00.0'],
  ],
}

for (const [what, rows] of Object.entries(cases)) {
  describe(what, () => {
    for (const [code, value, text] of rows) {
      test(`${code} shows ${value} as "${text}"`, () => assert.equal(show(code, value), text))
    }
  })
}
