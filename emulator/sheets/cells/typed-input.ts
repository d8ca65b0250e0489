import type { Locale } from './locale.ts'
import type { NumberFormat } from './number-format.ts'
import type { Typed } from './typed.ts'
import { parseTypedTime } from './typed-date.ts'

/** What USER_ENTERED makes of a string: the same as typing it into the browser. */
export function readTyped(text: string, locale: Locale): Typed {
  if (text.startsWith("'")) return { value: { stringValue: text.slice(1) } }
  if (text.startsWith('=') && text.length > 1) return { value: { formulaValue: text } }
  const trimmed = text.trim()
  if (/^(true|false)$/i.test(trimmed)) return { value: { boolValue: trimmed.toLowerCase() === 'true' } }
  return readNumber(trimmed, locale) ?? parseTypedTime(trimmed, locale) ?? { value: { stringValue: text } }
}

function readNumber(text: string, locale: Locale): Typed | undefined {
  const parts =
    /^([+-]?)(\(?)([$€£¥]?)\s*([+-]?)([\d.,\u00a0\u202f ]*\d[\d.,]*|\.\d+)(?:[eE]([+-]?\d+))?\s*([%€£¥]?)(\)?)$/.exec(
      text,
    )
  if (!parts) return undefined
  const [, sign, open, symbol, innerSign, digits = '', exponent, suffix, close] = parts
  if ((open === '') !== (close === '') || (sign && innerSign)) return undefined
  const number = readDigits(digits, locale)
  if (!number) return undefined
  const negative = sign === '-' || innerSign === '-' || open === '('
  const size = exponent === undefined ? number.value : Number(`${number.value}e${exponent}`)
  if (!Number.isFinite(size)) return undefined
  const value = {
    numberValue: (negative ? -1 : 1) * (suffix === '%' ? Number((size / 100).toPrecision(15)) : size),
  }
  const format = formatOf({ ...number, symbol: symbol || suffix || '', exponent: exponent !== undefined })
  return format ? { value, format } : { value }
}

function readDigits(
  text: string,
  locale: Locale,
): { value: number; grouped: boolean; decimals: boolean } | undefined {
  const compact = text.replace(/[\u00a0\u202f ]/g, locale.group === ',' ? ' ' : locale.group)
  const [whole = '', fraction, ...more] = compact.split(locale.decimal)
  if (more.length > 0 || (fraction !== undefined && !/^\d*$/.test(fraction))) return undefined
  const groups = whole.split(locale.group)
  const grouped = groups.length > 1
  if (
    grouped &&
    !(/^\d{1,3}$/.test(groups[0] ?? '') && groups.slice(1).every((group) => /^\d{3}$/.test(group)))
  ) {
    return undefined
  }
  if (!/^\d*$/.test(groups.join(''))) return undefined
  return {
    value: Number(`${groups.join('') || '0'}.${fraction || '0'}`),
    grouped,
    decimals: fraction !== undefined && fraction !== '',
  }
}

function formatOf(seen: {
  grouped: boolean
  decimals: boolean
  symbol: string
  exponent: boolean
}): NumberFormat | undefined {
  const tail = seen.decimals ? '.00' : ''
  if (seen.symbol === '%') return { type: 'PERCENT', pattern: `0${tail}%` }
  if (seen.symbol !== '') return { type: 'CURRENCY', pattern: `"${seen.symbol}"#,##0${tail}` }
  if (seen.exponent) return { type: 'SCIENTIFIC', pattern: '0.00E+00' }
  return seen.grouped ? { type: 'NUMBER', pattern: `#,##0${tail}` } : undefined
}
