import { type Decimal, roundDecimal, toDecimal } from './decimal.ts'
import { displayBefore } from './digit-places.ts'
import type { FormatToken } from './format-code.ts'
import { displayFraction } from './fraction-section.ts'
import { displayGeneral } from './general.ts'
import { generalInNumerals, inDigits, type Numerals } from './numerals.ts'

/** A number, without its sign, as one section of a format shows it. */
export function displayNumber(
  value: number,
  tokens: readonly FormatToken[],
  numerals: Numerals | undefined,
): string {
  const hasDigits = tokens.some(({ kind }) => kind === 'digit')
  if (!hasDigits) return displayWithoutPlaces(value, tokens, numerals)
  if (tokens.some(({ kind }) => kind === 'slash')) {
    return displayFraction(value, tokens) ?? displayGeneral(value)
  }
  const exponentAt = tokens.findIndex(({ kind }) => kind === 'exponent')
  return exponentAt === -1
    ? displayFixed(scaleValue(value, tokens), tokens, numerals)
    : displayScientific(value, tokens, exponentAt)
}

/** Whether its digits are all zeros there, though it is none. A fraction that has room for none is another matter to Excel. */
export function roundsToZero(value: number, tokens: readonly FormatToken[]): boolean {
  if (!tokens.some(({ kind }) => kind === 'digit')) return false
  if (tokens.some(({ kind }) => kind === 'slash' || kind === 'exponent')) return false
  const { whole, fraction } = roundDecimal(scaleValue(value, tokens), decimalsIn(tokens))
  return !/[1-9]/.test(whole + fraction)
}

function displayWithoutPlaces(
  value: number,
  tokens: readonly FormatToken[],
  numerals: Numerals | undefined,
): string {
  // A section for texts shows a number as if it had no format, once and without what stands around the text.
  if (tokens.some(({ kind }) => kind === 'text')) return displayGeneral(value)
  const general = numerals ? generalInNumerals(value, numerals) : displayGeneral(value)
  return tokens.map(({ kind, text }) => (kind === 'general' ? general : text)).join('')
}

/** `%` shows hundredths; a comma behind the last place, before the point or at the end, leaves three digits away. */
function scaleValue(value: number, tokens: readonly FormatToken[]): Decimal {
  const { digits, exponent } = toDecimal(value)
  const pointAt = tokens.findIndex(({ kind }) => kind === 'point')
  const wholeEnd = pointAt === -1 ? tokens.length : pointAt
  const lastPlace = tokens.findLastIndex(({ kind }) => kind === 'digit')
  const lastWholePlace = tokens.findLastIndex(({ kind }, at) => kind === 'digit' && at < wholeEnd)
  const hundreds = tokens.filter(({ kind }) => kind === 'percent').length
  const thousands = tokens.filter(
    ({ kind }, at) =>
      kind === 'comma' && (at < wholeEnd ? lastWholePlace !== -1 && at > lastWholePlace : at > lastPlace),
  ).length
  return { digits, exponent: exponent + 2 * hundreds - 3 * thousands }
}

function displayFixed(decimal: Decimal, tokens: readonly FormatToken[], numerals?: Numerals): string {
  const pointAt = tokens.findIndex(({ kind }) => kind === 'point')
  const before = pointAt === -1 ? tokens : tokens.slice(0, pointAt)
  const after = pointAt === -1 ? [] : tokens.slice(pointAt + 1)
  const { whole, fraction } = roundDecimal(decimal, decimalsIn(tokens))
  const point = pointAt === -1 ? '' : '.'
  const written = (digits: string): string => (numerals ? inDigits(digits, numerals) : digits)
  return displayBefore(whole, before, written) + point + displayAfter(fraction, after, written)
}

function decimalsIn(tokens: readonly FormatToken[]): number {
  const pointAt = tokens.findIndex(({ kind }) => kind === 'point')
  return tokens.filter(({ kind }, at) => kind === 'digit' && pointAt !== -1 && at > pointAt).length
}

/** Past the number's last digit a `0` shows a zero, a `?` a blank and a `#` nothing, each for itself. */
function displayAfter(
  digits: string,
  tokens: readonly FormatToken[],
  written: (digits: string) => string,
): string {
  const significant = digits.replace(/0+$/, '').length
  let place = 0
  return tokens
    .map(({ kind, text }) => {
      if (kind === 'comma') return ''
      if (kind !== 'digit') return text
      const digit = digits[place] ?? '0'
      if (place++ < significant || text === '0') return written(digit)
      return text === '?' ? ' ' : ''
    })
    .join('')
}

/** `0.00E+00`; several places before the point (`##0.0E+0`) keep the power a multiple of their number. */
function displayScientific(value: number, tokens: readonly FormatToken[], exponentAt: number): string {
  const mantissaTokens = tokens.slice(0, exponentAt)
  const powerTokens = tokens.slice(exponentAt + 1).filter(({ kind }) => kind !== 'comma')
  const pointAt = mantissaTokens.findIndex(({ kind }) => kind === 'point')
  const places = mantissaTokens.filter(({ kind }) => kind === 'digit').length
  const before = mantissaTokens.filter(
    ({ kind }, at) => kind === 'digit' && (pointAt === -1 || at < pointAt),
  ).length
  const step = Math.max(before, 1)
  const { digits, exponent } = toDecimal(value)
  const powerOf = (wholePower: number): number => (digits === '' ? 0 : Math.floor(wholePower / step) * step)
  let power = powerOf(exponent - 1)
  // 9.99 may round up to 10.0 and so need the next power.
  const { whole } = roundDecimal({ digits, exponent: exponent - power }, places - before)
  if (whole.length > step) power = powerOf(power + step)
  // Zero takes every place before the point: `##0.0E+0` shows it as `000.0E+0`.
  const shownTokens = mantissaTokens.map((token, at): FormatToken => {
    const isFilled = digits === '' && token.kind === 'digit' && (pointAt === -1 || at < pointAt)
    return isFilled ? { kind: 'digit', text: '0' } : token
  })
  const mantissa = displayFixed({ digits, exponent: exponent - power }, shownTokens)
  const [letter = 'E', plus = ''] = tokens[exponentAt]?.text ?? ''
  const sign = power < 0 ? '-' : plus.replace('-', '')
  const firstPlace = powerTokens.findIndex(({ kind }) => kind === 'digit')
  const beforePlaces = powerTokens.slice(0, Math.max(firstPlace, 0)).map(({ text }) => text)
  const shownPower = displayBefore(String(Math.abs(power)), powerTokens.slice(beforePlaces.length))
  return mantissa + letter + beforePlaces.join('') + sign + shownPower
}
