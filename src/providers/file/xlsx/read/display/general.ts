import { roundDecimal, toDecimal } from './decimal.ts'

/** What General has room for, the sign aside. */
const MAX_CHARS = 11
const SCIENTIFIC_DIGITS = 6

/** A number as the format General shows it: up to eleven characters, scientific where those do not do. */
export function displayGeneral(value: number): string {
  const sign = value < 0 ? '-' : ''
  const decimal = toDecimal(Math.abs(value))
  const { digits, exponent } = decimal
  if (digits === '') return '0'
  if (exponent > MAX_CHARS) return sign + scientific(decimal.digits, exponent)
  const wholeChars = Math.max(exponent, 1)
  const decimals = Math.max(MAX_CHARS - 1 - wholeChars, 0)
  // Small numbers may lose no digit, or all of them would soon be lost.
  if (exponent < -3 && digits.length - exponent > decimals) return sign + scientific(digits, exponent)
  const { whole, fraction } = roundDecimal(decimal, decimals)
  if (whole.length > MAX_CHARS) return sign + scientific(digits, exponent)
  const shown = fraction.replace(/0+$/, '')
  return `${sign}${whole === '' ? '0' : whole}${shown === '' ? '' : `.${shown}`}`
}

function scientific(digits: string, exponent: number): string {
  const { whole, fraction } = roundDecimal({ digits, exponent: 1 }, SCIENTIFIC_DIGITS - 1)
  const carried = whole.length - 1
  const decimals = (whole.slice(1) + fraction).replace(/0+$/, '')
  const power = exponent - 1 + carried
  const sign = power < 0 ? '-' : '+'
  const mantissa = `${whole[0]}${decimals === '' ? '' : `.${decimals}`}`
  return `${mantissa}E${sign}${String(Math.abs(power)).padStart(2, '0')}`
}
