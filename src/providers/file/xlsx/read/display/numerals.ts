import { roundDecimal, toDecimal } from './decimal.ts'
import type { FormatLocale } from './format-locale.ts'
import { displayGeneral } from './general.ts'

/** `[DBNum1]` to `[DBNum3]`: everyday signs, those of documents, and wide digits. */
export type NumeralStyle = 1 | 2 | 3

/** The signs of one style in one language. */
export interface Numerals {
  style: NumeralStyle
  /** From zero to nine. */
  digits: string
  /** Behind the second to the fourth digit of four. */
  places: string
  /** Behind the second to the fourth four digits. */
  groups: string
  /** Chinese says a zero between digits, and the one of ten, hundred and thousand; Japanese neither, but for the ones of style 2. */
  saysZeros: boolean
  saysOnes: boolean
}

const WIDE_DIGITS = '０１２３４５６７８９'

/** By the language of the section. The zero of everyday Chinese is a circle (U+25CB) in Excel, that of Japanese a sign of its own (U+3007). */
const NUMERALS: Readonly<Record<string, readonly Omit<Numerals, 'style'>[]>> = {
  zh: [
    { digits: '○一二三四五六七八九', places: '十百千', groups: '万亿兆', saysZeros: true, saysOnes: true },
    { digits: '零壹贰叁肆伍陆柒捌玖', places: '拾佰仟', groups: '万亿兆', saysZeros: true, saysOnes: true },
    { digits: WIDE_DIGITS, places: '十百千', groups: '万亿兆', saysZeros: true, saysOnes: true },
  ],
  'zh-Hant': [
    { digits: '○一二三四五六七八九', places: '十百千', groups: '萬億兆', saysZeros: true, saysOnes: true },
    { digits: '零壹貳參肆伍陸柒捌玖', places: '拾佰仟', groups: '萬億兆', saysZeros: true, saysOnes: true },
    { digits: WIDE_DIGITS, places: '十百千', groups: '萬億兆', saysZeros: true, saysOnes: true },
  ],
  ja: [
    { digits: '〇一二三四五六七八九', places: '十百千', groups: '万億兆', saysZeros: false, saysOnes: false },
    { digits: '〇壱弐参四伍六七八九', places: '拾百阡', groups: '萬億兆', saysZeros: false, saysOnes: true },
    { digits: WIDE_DIGITS, places: '十百千', groups: '万億兆', saysZeros: false, saysOnes: false },
  ],
}

/** Digits that have places by name: a thousand times 10^12. */
const MAX_NAMED_DIGITS = 16
/** Digits of the largest numbers that Excel was seen to write out. */
const MAX_WRITTEN_DIGITS = 21

/** Undefined where the code names none of the languages that are known: without one Excel goes by the system's. */
export function numeralsOf(
  style: NumeralStyle | undefined,
  locale: FormatLocale | undefined,
): Numerals | undefined {
  if (style === undefined || locale?.language === undefined) return undefined
  const signs = NUMERALS[locale.language]?.[style - 1]
  return signs && { style, ...signs }
}

/** Each digit for itself; what is no digit stays. */
export function inDigits(text: string, { digits }: Numerals): string {
  return text.replace(/\d/g, (digit) => digits[Number(digit)] ?? digit)
}

/** As General shows a positive number: to 15 digits, never scientific, the whole by the names of its places and the decimals digit by
 * digit. Very large and very small ones stay as General shows them without numerals. */
export function generalInNumerals(value: number, numerals: Numerals): string {
  const plain = displayGeneral(value)
  const decimal = toDecimal(value)
  const maxDigits = numerals.saysZeros ? MAX_NAMED_DIGITS : MAX_WRITTEN_DIGITS
  if (decimal.exponent > maxDigits || (value < 1 && plain.includes('E'))) return plain
  const decimals = Math.max(decimal.digits.length - decimal.exponent, 0)
  const { whole, fraction } = roundDecimal(decimal, decimals)
  return byPlaces(whole, numerals) + (fraction === '' ? '' : `.${inDigits(fraction, numerals)}`)
}

/** A year of four digits and what begins with a zero are written digit by digit, other parts of a date or time by their places. */
export function datePartInNumerals(part: string, numerals: Numerals): string {
  if (numerals.style === 3 || part.length > 2 || part.startsWith('0')) return inDigits(part, numerals)
  // Twelve is 一十二 in Chinese numbers, but 十二 in Chinese dates.
  return byPlaces(part, { ...numerals, saysOnes: numerals.style === 2 })
}

function byPlaces(whole: string, numerals: Numerals): string {
  if (whole === '') return inDigits('0', numerals)
  if (whole.length > MAX_NAMED_DIGITS) {
    const named = MAX_NAMED_DIGITS - 4
    const rest = whole.slice(-named).replace(/^0+/, '')
    return (
      inDigits(whole.slice(0, -named), numerals) + numerals.groups[2] + (rest && byPlaces(rest, numerals))
    )
  }
  let shown = ''
  let skipsZero = false
  let isGroupEmpty = true
  for (const [at, digit] of [...whole].entries()) {
    const place = whole.length - 1 - at
    if (digit === '0') skipsZero = true
    else {
      if (skipsZero && numerals.saysZeros) shown += inDigits('0', numerals)
      if (digit !== '1' || place % 4 === 0 || numerals.saysOnes) shown += inDigits(digit, numerals)
      shown += numerals.places[(place % 4) - 1] ?? ''
      skipsZero = false
      isGroupEmpty = false
    }
    if (place % 4 === 0 && !isGroupEmpty) {
      shown += numerals.groups[place / 4 - 1] ?? ''
      // Zeros at the end of four digits are not said, unless all four are zeros.
      skipsZero = false
      isGroupEmpty = true
    }
  }
  return shown
}
