import type { FormatToken } from './format-code.ts'

/**
 * Digits go into their places from the right; the leftmost place takes all that are left. Where there is no place
 * at all, as in `"about ".00`, they stand before the point.
 */
export function displayBefore(
  digits: string,
  tokens: readonly FormatToken[],
  written: (digits: string) => string = (plain) => plain,
): string {
  const firstPlace = tokens.findIndex(({ kind }) => kind === 'digit')
  const lastPlace = tokens.findLastIndex(({ kind }) => kind === 'digit')
  const isGrouped = tokens.some(({ kind }, at) => kind === 'comma' && at > firstPlace && at < lastPlace)
  let rest = digits
  let shownDigits = 0
  let shown = ''
  // A blank for a digit has a blank for the comma beside it.
  const put = (digit: string): void => {
    const needsComma = isGrouped && shownDigits > 0 && shownDigits % 3 === 0
    shown = written(digit) + (needsComma ? (digit === ' ' ? ' ' : ',') : '') + shown
    shownDigits++
  }
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at]
    if (token?.kind !== 'digit') {
      // Before the first place a comma is one, behind it a sign for thousands.
      if (token && (token.kind !== 'comma' || at < firstPlace)) shown = token.text + shown
      continue
    }
    if (rest === '') {
      if (token.text === '0') put('0')
      else if (token.text === '?') put(' ')
      continue
    }
    do {
      put(rest.slice(-1))
      rest = rest.slice(0, -1)
    } while (at === firstPlace && rest !== '')
  }
  return shown + written(rest)
}
