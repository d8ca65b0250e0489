import { isJsonObject, type JsonObject } from '../model.ts'
import { formatDate } from './date-pattern.ts'
import type { Locale } from './locale.ts'

export interface NumberFormat {
  type: string
  pattern: string
}

const TYPES_OF_TIME = ['DATE', 'TIME', 'DATE_TIME']

export function numberFormatOf(format: JsonObject | undefined, locale: Locale): NumberFormat | undefined {
  const given = format?.numberFormat
  if (!isJsonObject(given) || typeof given.type !== 'string') return undefined
  const pattern = typeof given.pattern === 'string' ? given.pattern : ''
  return { type: given.type, pattern: pattern || defaultPattern(given.type, locale) }
}

function defaultPattern(type: string, locale: Locale): string {
  const date = locale.dayFirst ? 'dd/mm/yyyy' : 'm/d/yyyy'
  const time = locale.dayFirst ? 'hh:mm:ss' : 'h:mm:ss AM/PM'
  const patterns: Record<string, string> = {
    NUMBER: '#,##0.00',
    PERCENT: '0.00%',
    CURRENCY: locale.decimal === ',' ? `#,##0.00"\u00a0${locale.currency}"` : `"${locale.currency}"#,##0.00`,
    SCIENTIFIC: '0.00E+00',
    DATE: date,
    TIME: time,
    DATE_TIME: `${date} ${locale.dayFirst ? 'hh:mm:ss' : 'h:mm:ss'}`,
  }
  return patterns[type] ?? ''
}

export function showsTime(format: NumberFormat | undefined): boolean {
  return format !== undefined && TYPES_OF_TIME.includes(format.type)
}

/** A number as its cell displays it. */
export function displayNumber(value: number, format: NumberFormat | undefined, locale: Locale): string {
  if (!format || format.pattern === '' || /^general$/i.test(format.pattern))
    return displayPlain(value, locale)
  if (showsTime(format)) return formatDate(value, format.pattern)
  const sections = splitSections(format.pattern)
  const negative = value < 0 && sections[1] !== undefined
  const section = negative
    ? sections[1]
    : value === 0 && sections[2] !== undefined
      ? sections[2]
      : sections[0]
  const text = displayByPattern(Math.abs(value), section ?? '', locale)
  return value < 0 && !negative ? `-${text}` : text
}

/** Without a format: all digits of an integer, else ten significant ones. */
export function displayPlain(value: number, locale: Locale): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) && size < 1e15) return String(value)
  if (size >= 1e15 || (size < 1e-9 && size > 0)) return scientific(value, 5, false, 2)
  const text = String(Number(value.toPrecision(10)))
  const plain = text.includes('e') ? Number(text).toFixed(20).replace(/0+$/, '') : text
  return plain.replace('.', locale.decimal)
}

function splitSections(pattern: string): string[] {
  return pattern.match(/(?:"[^"]*"|\\.|[^;"])+/g) ?? [pattern]
}

function displayByPattern(value: number, pattern: string, locale: Locale): string {
  const bare = pattern.replace(/"[^"]*"|\\./g, '')
  if (!/[0#?]/.test(bare)) return literals(pattern).replace('@', displayPlain(value, locale))
  const core = /[0#?][0#?,.]*(?:E\+0+)?/i
  const split = splitAtCore(pattern, core)
  const scaled = bare.includes('%') ? Number((value * 100).toPrecision(15)) : value
  return literals(split.before) + displayCore(scaled, split.core, locale) + literals(split.after)
}

/** The digits part of a pattern, looked for outside of quotes. */
function splitAtCore(pattern: string, core: RegExp): { before: string; core: string; after: string } {
  const veiled = pattern.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, (text) => '\u0001'.repeat(text.length))
  const match = core.exec(veiled)
  if (!match) return { before: pattern, core: '', after: '' }
  const end = match.index + match[0].length
  return { before: pattern.slice(0, match.index), core: match[0], after: pattern.slice(end) }
}

function displayCore(value: number, core: string, locale: Locale): string {
  const exponent = /^(.*)E\+(0+)$/i.exec(core)
  if (exponent)
    return scientific(value, (exponent[1]?.split('.')[1] ?? '').length, true, exponent[2]?.length ?? 2)
  const [integers = '', decimals = ''] = core.split('.')
  const thousands = /,+$/.exec(integers)?.[0].length ?? 0
  const grouped = /[0#?],+[0#?]/.test(integers)
  const rounded = roundHalfUp(value / 1000 ** thousands, decimals.length)
  const [whole = '0', fraction = ''] = rounded.split('.')
  const least = integers.replace(/[^0]/g, '').length
  const digits = least === 0 && whole === '0' ? '' : whole.padStart(least, '0')
  const shown = grouped ? digits.replace(/\B(?=(\d{3})+$)/g, locale.group) : digits
  const required = decimals.replace(/[^0]/g, '').length
  let kept = fraction
  while (kept.length > required && kept.endsWith('0')) kept = kept.slice(0, -1)
  return core.includes('.') && (kept !== '' || decimals === '') ? `${shown}${locale.decimal}${kept}` : shown
}

function roundHalfUp(value: number, decimals: number): string {
  const shifted = Math.round(Number(`${value.toPrecision(15)}`) * 10 ** decimals)
  if (!Number.isSafeInteger(shifted)) return value.toFixed(Math.min(decimals, 20))
  return (shifted / 10 ** decimals).toFixed(decimals)
}

function scientific(value: number, decimals: number, fixed: boolean, width: number): string {
  const [mantissa = '0', exponent = '0'] = value.toExponential(decimals).split('e')
  const sign = exponent.startsWith('-') ? '-' : '+'
  const digits = exponent.replace(/^[+-]/, '').padStart(width, '0')
  return `${fixed ? mantissa : String(Number(mantissa))}E${sign}${digits}`
}

function literals(pattern: string): string {
  return pattern.replace(
    /"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*./g,
    (_, quoted, escaped, symbol) => {
      return quoted ?? escaped ?? symbol ?? ''
    },
  )
}
