/** A positive number in decimal: 0.digits × 10^exponent. No digits are zero. */
export interface Decimal {
  digits: string
  exponent: number
}

/** Spreadsheets show numbers by their first 15 digits, so that 1.005 rounds to 1.01 though no double is 1.005. */
export function toDecimal(value: number): Decimal {
  if (value === 0) return { digits: '', exponent: 0 }
  const [mantissa = '', exponent] = value.toExponential(14).split('e')
  return { digits: mantissa.replace('.', '').replace(/0+$/, ''), exponent: Number(exponent) + 1 }
}

/** Its digits before and after the point, rounded half up to so many decimals; no leading zeros before the point. */
export function roundDecimal(
  { digits, exponent }: Decimal,
  decimals: number,
): { whole: string; fraction: string } {
  const kept = exponent + decimals
  const all = digits.padEnd(Math.max(kept, 0), '0')
  let rounded = kept < 0 ? '' : all.slice(0, kept)
  if (kept >= 0 && all.charCodeAt(kept) >= 0x35) rounded = increment(rounded)
  const written = rounded.padStart(decimals, '0')
  const point = written.length - decimals
  return { whole: written.slice(0, point).replace(/^0+/, ''), fraction: written.slice(point) }
}

function increment(digits: string): string {
  const nines = /9*$/.exec(digits)?.[0].length ?? 0
  const rest = digits.slice(0, digits.length - nines)
  const last = rest === '' ? '1' : rest.slice(0, -1) + String(Number(rest.at(-1)) + 1)
  return last + '0'.repeat(nines)
}
