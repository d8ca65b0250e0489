const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/** Fifteen significant digits are what a double keeps of any decimal, there and back. */
const DIGITS_LIMIT = 1e15

/** With at most 307 decimals no value is subnormal, where a double keeps fewer than fifteen digits. */
const MAX_DECIMALS = 307

/** The powers of ten that a double holds exactly: a quotient by one of them is correctly rounded. */
const EXACT_POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * The number that `text.slice(start, end)` spells as docs/contract.md#csv-files has it (a plain decimal, no leading
 * zeros, no plus, at most 15 digits), else NaN. Zeros before the first other digit and at the end of the decimals do
 * not count as digits: they do not change the value. `-0` is 0, because JSON has no other.
 */
export function parsePlainDecimal(text: string, start: number, end: number): number {
  const isNegative = text.charCodeAt(start) === MINUS
  const integerStart = isNegative ? start + 1 : start
  let at = integerStart
  let digits = 0
  for (; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) break
    digits = digits * 10 + digit
    if (digits >= DIGITS_LIMIT) return Number.NaN
  }
  const integerDigits = at - integerStart
  if (integerDigits === 0) return Number.NaN
  if (integerDigits > 1 && text.charCodeAt(integerStart) === ZERO) return Number.NaN
  if (at === end) return withSign(digits, isNegative)

  if (text.charCodeAt(at) !== POINT || at + 1 === end) return Number.NaN
  let decimalsEnd = end
  while (text.charCodeAt(decimalsEnd - 1) === ZERO) decimalsEnd--
  const decimals = decimalsEnd - at - 1
  if (decimals > MAX_DECIMALS) return Number.NaN
  for (at++; at < decimalsEnd; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    digits = digits * 10 + digit
    if (digits >= DIGITS_LIMIT) return Number.NaN
  }
  const divisor = EXACT_POWERS_OF_TEN[decimals]
  const value = divisor === undefined ? Number(text.slice(integerStart, decimalsEnd)) : digits / divisor
  return withSign(value, isNegative)
}

function withSign(value: number, isNegative: boolean): number {
  return isNegative && value !== 0 ? -value : value
}

/** The plain decimal that reads back as this very number, or undefined when there is none. */
export function writePlainDecimal(value: number): string | undefined {
  const [mantissa = '', negativeExponent] = String(value).split('e-')
  const plain = negativeExponent === undefined ? mantissa : shiftPoint(mantissa, Number(negativeExponent))
  return parsePlainDecimal(plain, 0, plain.length) === value ? plain : undefined
}

/** `-1.5` and 7 give `-0.00000015`; the mantissa has exactly one digit before its point. */
function shiftPoint(mantissa: string, places: number): string {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.slice(sign.length).replace('.', '')
  return `${sign}0.${'0'.repeat(places - 1)}${digits}`
}
