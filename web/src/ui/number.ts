/** `12,345.6`, with at most so many digits after the point. */
export function shownNumber(value: number, maximumFractionDigits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits })
}
