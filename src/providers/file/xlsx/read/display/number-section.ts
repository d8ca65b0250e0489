import { type Decimal, roundDecimal, toDecimal } from './decimal.ts'
import type { FormatToken } from './format-code.ts'
import { displayGeneral } from './general.ts'

/** A number, without its sign, as one section of a format shows it. */
export function displayNumber(value: number, tokens: readonly FormatToken[]): string {
  const hasDigits = tokens.some(({ kind }) => kind === 'digit')
  const isFraction = hasDigits && tokens.some(({ kind }) => kind === 'slash')
  if (!hasDigits || isFraction) return displayWhole(value, tokens, isFraction)
  const exponentAt = tokens.findIndex(({ kind }) => kind === 'exponent')
  return exponentAt === -1
    ? displayFixed(scaled(value, tokens), tokens)
    : displayScientific(value, tokens, exponentAt)
}

/** Formats with no places for digits. Fractions (`# ?/?`) are shown as decimals, as under General. */
function displayWhole(value: number, tokens: readonly FormatToken[], isFraction: boolean): string {
  if (isFraction) return displayGeneral(value)
  return tokens
    .map(({ kind, text }) => (kind === 'general' || kind === 'text' ? displayGeneral(value) : text))
    .join('')
}

/** `%` shows hundredths; a comma behind the last place leaves three digits away. */
function scaled(value: number, tokens: readonly FormatToken[]): Decimal {
  const decimal = toDecimal(value)
  const hundreds = tokens.filter(({ kind }) => kind === 'percent').length
  const thousands = tokens.filter((_, at) => isScaling(tokens, at)).length
  return { digits: decimal.digits, exponent: decimal.exponent + 2 * hundreds - 3 * thousands }
}

function isScaling(tokens: readonly FormatToken[], at: number): boolean {
  if (tokens[at]?.kind !== 'comma') return false
  const point = tokens.findIndex(({ kind }) => kind === 'point')
  const end = point === -1 || at > point ? tokens.length : point
  const isAfterPlace = tokens.slice(0, at).some(({ kind }) => kind === 'digit')
  return isAfterPlace && !tokens.slice(at, end).some(({ kind }) => kind === 'digit')
}

function displayFixed(decimal: Decimal, tokens: readonly FormatToken[]): string {
  const pointAt = tokens.findIndex(({ kind }) => kind === 'point')
  const before = pointAt === -1 ? tokens : tokens.slice(0, pointAt)
  const after = pointAt === -1 ? [] : tokens.slice(pointAt + 1)
  const decimals = after.filter(({ kind }) => kind === 'digit').length
  const { whole, fraction } = roundDecimal(decimal, decimals)
  const point = pointAt === -1 ? '' : '.'
  return displayBefore(whole, before) + point + displayAfter(fraction, after)
}

/** Digits go into their places from the right; the leftmost place takes all that are left. */
function displayBefore(digits: string, tokens: readonly FormatToken[]): string {
  const firstPlace = tokens.findIndex(({ kind }) => kind === 'digit')
  const lastPlace = tokens.findLastIndex(({ kind }) => kind === 'digit')
  const isGrouped = tokens.some(({ kind }, at) => kind === 'comma' && at > firstPlace && at < lastPlace)
  let rest = digits
  let shownDigits = 0
  let shown = ''
  const put = (digit: string): void => {
    const needsComma = isGrouped && shownDigits > 0 && shownDigits % 3 === 0
    shown = digit + (needsComma ? ',' : '') + shown
    shownDigits++
  }
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at]
    if (token?.kind !== 'digit') {
      if (token && token.kind !== 'comma') shown = token.text + shown
      continue
    }
    if (rest === '') {
      if (token.text === '0') put('0')
      else if (token.text === '?') shown = ` ${shown}`
      continue
    }
    do {
      put(rest.slice(-1))
      rest = rest.slice(0, -1)
    } while (at === firstPlace && rest !== '')
  }
  return rest + shown
}

function displayAfter(digits: string, tokens: readonly FormatToken[]): string {
  const places = tokens.filter(({ kind }) => kind === 'digit')
  const needed = Math.max(
    digits.replace(/0+$/, '').length,
    places.findLastIndex(({ text }) => text === '0') + 1,
  )
  let place = 0
  return tokens
    .map(({ kind, text }) => {
      if (kind === 'comma') return ''
      if (kind !== 'digit') return text
      const digit = digits[place] ?? '0'
      if (place++ < needed) return digit
      return text === '?' ? ' ' : ''
    })
    .join('')
}

/** `0.00E+00`; several places before the point (`##0.0E+0`) keep the power a multiple of their number. */
function displayScientific(value: number, tokens: readonly FormatToken[], exponentAt: number): string {
  const mantissaTokens = tokens.slice(0, exponentAt)
  const powerTokens = tokens.slice(exponentAt + 1)
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
  const mantissa = displayFixed({ digits, exponent: exponent - power }, mantissaTokens)
  const plus = tokens[exponentAt]?.text.endsWith('+') ? '+' : ''
  const sign = power < 0 ? '-' : plus
  return `${mantissa}E${sign}${displayBefore(Math.abs(power) === 0 ? '' : String(Math.abs(power)), powerTokens)}`
}
