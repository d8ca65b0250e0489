/** Whether a number read from `source` prints as the same decimal again, so that nothing of it was lost. */
export function isExactNumber(source: string, value: number): boolean {
  return Number.isFinite(value) && normalised(source) === normalised(String(value))
}

/** Sign, significant digits and power of ten: `1.50e3` and `1500` are both `15e2`. */
function normalised(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = withoutEndingZeros(digits)
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign}${significant}e${power}`
}

/** Not `/0+$/`: over a million zeros with a one behind them, that looks at each of them a million times. */
function withoutEndingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
