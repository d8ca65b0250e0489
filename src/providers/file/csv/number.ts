const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/** Fifteen significant digits are what a double keeps of any decimal, there and back. */
const DIGITS = 15
const DIGITS_LIMIT = 10 ** DIGITS

/** With at most 307 decimals no value is subnormal, where a double keeps fewer than fifteen digits. */
const MAX_DECIMALS = 307

/** The powers of ten that a double holds exactly: a quotient by one of them is correctly rounded. */
const EXACT_POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

const SPACE = 0x20
const SMALLEST_NUMBER = 1e-307

/**
 * The number that `text.slice(start, end)` spells as docs/contract.md#csv-files has it, else NaN. Each cell is judged by
 * itself: what a cell is must not change because somebody wrote to another one. `-0` is 0, because JSON has no other.
 */
export function parseNumber(text: string, start: number, end: number): number {
  let from = start
  let to = end
  while (from < to && text.charCodeAt(from) === SPACE) from++
  while (to > from && text.charCodeAt(to - 1) === SPACE) to--
  const plain = parsePlainDecimal(text, from, to)
  return Number.isNaN(plain) ? parseOtherSpelling(text, from, to) : plain
}

/**
 * `.5`, and what programs write with an exponent: `1.00E+05`, `1e-07`. Without a sign or a point (`12E5`) it is as likely to
 * be a code.
 */
const OTHER_SPELLING = /^-?(?:(?:0|[1-9]\d*)?\.\d+(?:[eE][+-]?\d{1,3})?|(?:0|[1-9]\d*)[eE][+-]\d{1,3})$/

function parseOtherSpelling(text: string, start: number, end: number): number {
  const spelled = text.slice(start, end)
  if (!OTHER_SPELLING.test(spelled)) return Number.NaN
  const [mantissa = '', exponent] = spelled.split(/[eE]/)
  // Without either it is a plain decimal with too many digits.
  if (exponent === undefined && !/^-?\./.test(mantissa)) return Number.NaN
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
  if (digits.length > DIGITS) return Number.NaN
  const value = Math.abs(Number(spelled))
  const isKept = digits === '' || (value >= SMALLEST_NUMBER && Number.isFinite(value))
  return isKept ? withSign(value, spelled.startsWith('-')) : Number.NaN
}

/**
 * A plain decimal without leading zeros or plus, of at most 15 digits. Zeros before the first other digit and at the end
 * of the decimals do not count: they do not change the value.
 */
function parsePlainDecimal(text: string, start: number, end: number): number {
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

/** What reads back as this very number, a plain decimal where there is one, or undefined when nothing does. */
export function writeNumber(value: number): string | undefined {
  const [mantissa = '', negativeExponent] = String(value).split('e-')
  const plain = negativeExponent === undefined ? mantissa : shiftPoint(mantissa, Number(negativeExponent))
  const spellings = [plain, value.toExponential()]
  return spellings.find((spelling) => parseNumber(spelling, 0, spelling.length) === value)
}

/** `-1.5` and 7 give `-0.00000015`; the mantissa has exactly one digit before its point. */
function shiftPoint(mantissa: string, places: number): string {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.slice(sign.length).replace('.', '')
  return `${sign}0.${'0'.repeat(places - 1)}${digits}`
}
