import { roundDecimal, toDecimal } from './decimal.ts'
import { displayBefore } from './digit-places.ts'
import type { FormatToken } from './format-code.ts'

/** Excel uses no more, however many the code has; it also keeps all that is computed here below 2^53. */
const MAX_DENOMINATOR_PLACES = 7
/** What is left of a number after its nearest fraction, and is only the error of its binary form. */
const NEGLIGIBLE = 5e-8

interface FractionParts {
  /** Up to the numerator; without places for digits when the fraction may be improper (`??/??`). */
  whole: readonly FormatToken[]
  numerator: readonly FormatToken[]
  /** The slash and what stands around it. */
  slash: readonly FormatToken[]
  denominator: readonly FormatToken[]
  /** `16` in `??/16`. */
  fixedDenominator: number | undefined
  tail: readonly FormatToken[]
}

/** A number as `# ??/??` shows it; undefined where the code does not make a fraction. */
export function displayFraction(value: number, tokens: readonly FormatToken[]): string | undefined {
  const parts = splitFraction(tokens)
  if (parts === undefined) return undefined
  const isMixed = parts.whole.some(isDigit)
  const floor = Math.floor(value)
  const [rounded, denominator] = nearestFraction(value - floor, parts)
  const carries = rounded === denominator
  const whole = carries ? floor + 1 : floor
  const part = carries ? 0 : rounded
  const tail = textOf(parts.tail)
  if (!isMixed) {
    const numerator = whole * denominator + part
    if (!Number.isFinite(numerator)) return undefined
    return textOf(parts.whole) + displayQuotient(digitsOf(numerator), denominator, parts) + tail
  }
  const isAligned = [...parts.whole, ...parts.numerator, ...parts.denominator].some(isBlankPlace)
  const lastPlace = parts.whole.findLastIndex(isDigit)
  const between = parts.whole.slice(lastPlace + 1)
  if (part === 0 && !parts.numerator.some(isZeroPlace)) {
    // A whole number leaves the room of its fraction empty, so that numbers below each other stay aligned.
    const room = textOf([...between, ...parts.numerator, ...parts.slash, ...parts.denominator])
    const blanks = isAligned ? ' '.repeat(room.length) : ''
    return displayBefore(digitsOf(whole), parts.whole.slice(0, lastPlace + 1)) + blanks + tail
  }
  const quotient = displayQuotient(digitsOf(part), denominator, parts)
  if (whole === 0 && !showsZero(parts, part)) {
    const last = parts.whole.slice(lastPlace, lastPlace + 1)
    const isSpaced = [...parts.whole, ...parts.numerator].some(isBlankPlace)
    const blanks = isSpaced ? displayBefore('', last) + ' '.repeat(textOf(between).length) : ''
    return displayBefore('', parts.whole.slice(0, lastPlace)) + blanks + quotient + tail
  }
  return displayBefore(digitsOf(whole), parts.whole) + quotient + tail
}

/** Whether the whole number before a fraction is shown although it is 0. */
function showsZero({ whole }: FractionParts, part: number): boolean {
  const places = whole.filter(isDigit)
  if (part !== 0) return places.some(isZeroPlace)
  return !(places.length === 1 && places.every(({ text }) => text === '#'))
}

function splitFraction(tokens: readonly FormatToken[]): FractionParts | undefined {
  const slashAt = tokens.findIndex(({ kind }) => kind === 'slash')
  const numeratorEnd = tokens.findLastIndex((token, at) => at < slashAt && token.kind !== 'literal') + 1
  const beforeNumerator = tokens.findLastIndex((token, at) => at < numeratorEnd && !isDigit(token))
  const denominatorAt = tokens.findIndex((token, at) => at > slashAt && isDenominator(token))
  if (numeratorEnd === beforeNumerator + 1 || denominatorAt === -1) return undefined
  const afterDenominator = tokens.findIndex((token, at) => at > denominatorAt && !isDenominator(token))
  const denominatorEnd = afterDenominator === -1 ? tokens.length : afterDenominator
  const denominator = tokens.slice(denominatorAt, denominatorEnd)
  const isFixed = /^[1-9]/.test(textOf(denominator))
  if (isFixed && denominator.length > MAX_DENOMINATOR_PLACES) return undefined
  return {
    whole: tokens.slice(0, beforeNumerator + 1),
    numerator: tokens.slice(beforeNumerator + 1, numeratorEnd),
    slash: tokens.slice(numeratorEnd, denominatorAt),
    denominator,
    fixedDenominator: isFixed ? Number.parseInt(textOf(denominator), 10) : undefined,
    tail: tokens.slice(denominatorEnd),
  }
}

function isDigit({ kind }: FormatToken): boolean {
  return kind === 'digit'
}

function isZeroPlace({ kind, text }: FormatToken): boolean {
  return kind === 'digit' && text === '0'
}

function isBlankPlace({ kind, text }: FormatToken): boolean {
  return kind === 'digit' && text === '?'
}

function isDenominator({ kind, text }: FormatToken): boolean {
  return kind === 'digit' || (kind === 'literal' && /^[1-9]$/.test(text))
}

/**
 * Excel takes the last convergent of the continued fraction whose denominator has room, not the nearest fraction
 * of all: 0.456 is `1/2` in `?/?`, though 4/9 is nearer.
 */
function nearestFraction(
  value: number,
  { denominator, fixedDenominator }: FractionParts,
): [numerator: number, denominator: number] {
  if (fixedDenominator !== undefined) return [Math.round(value * fixedDenominator), fixedDenominator]
  const most = 10 ** Math.min(denominator.length, MAX_DENOMINATOR_PLACES) - 1
  let [previousTop, previousBottom, top, bottom] = [1, 0, 0, 1]
  let rest = value
  while (rest >= NEGLIGIBLE) {
    const inverse = 1 / rest
    const quotient = Math.floor(inverse)
    const nextBottom = quotient * bottom + previousBottom
    if (nextBottom > most) break
    const nextTop = quotient * top + previousTop
    ;[previousTop, previousBottom, top, bottom] = [top, bottom, nextTop, nextBottom]
    rest = inverse - quotient
  }
  return [top, bottom]
}

/** Numerators stand at the right of their places, denominators at the left. */
function displayQuotient(numerator: string, denominator: number, parts: FractionParts): string {
  const zeros = parts.fixedDenominator === undefined ? parts.denominator.filter(isZeroPlace).length : 0
  const digits = String(denominator).padStart(zeros, '0')
  const blanks = parts.denominator.slice(digits.length).filter(isBlankPlace).length
  return displayBefore(numerator, parts.numerator) + textOf(parts.slash) + digits + ' '.repeat(blanks)
}

function digitsOf(whole: number): string {
  return roundDecimal(toDecimal(whole), 0).whole || '0'
}

function textOf(tokens: readonly FormatToken[]): string {
  return tokens.map(({ text }) => text).join('')
}
