import type { Locale } from './locale.ts'
import { serialOfDate } from './serial-date.ts'
import type { Typed } from './typed.ts'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const FULL_MONTHS =
  'january february march april may june july august september october november december'.split(' ')

interface Part {
  serial: number
  pattern: string
}

/** Dates, times and both together, in the forms people type; anything else stays text. */
export function parseTypedTime(text: string, locale: Locale): Typed | undefined {
  const date = parseDate(text, locale)
  if (date) return typed(date, 'DATE')
  const time = parseTime(text)
  if (time) return typed(time, 'TIME')
  const both = /^(.*\S)\s+(\d{1,2}:\d{2}.*)$/.exec(text)
  const day = both && parseDate(both[1] ?? '', locale)
  const clock = both && parseTime(both[2] ?? '')
  if (!day || !clock) return undefined
  return typed({ serial: day.serial + clock.serial, pattern: `${day.pattern} ${clock.pattern}` }, 'DATE_TIME')
}

function typed(part: Part, type: string): Typed {
  return { value: { numberValue: part.serial }, format: { type, pattern: part.pattern } }
}

function parseDate(text: string, locale: Locale): Part | undefined {
  const iso = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/.exec(text)
  if (iso) return dated(iso[1], iso[3], iso[4], `yyyy${iso[2]}mm${iso[2]}dd`)
  const numeric = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/.exec(text)
  if (numeric && !(numeric[2] === '.' && !locale.dayFirst)) return numericDate(numeric, locale)
  const named = /^([a-z]+)\.?\s+(\d{1,2}),?\s+(\d{4})$/i.exec(text)
  if (named) return namedDate(named[3], named[1], named[2], (month) => `${month} d, yyyy`)
  const dayNamed = /^(\d{1,2})([-\s])([a-z]+)\.?\2(\d{4})$/i.exec(text)
  if (dayNamed) {
    const gap = dayNamed[2] ?? ' '
    return namedDate(dayNamed[4], dayNamed[3], dayNamed[1], (month) => `d${gap}${month}${gap}yyyy`)
  }
  return undefined
}

function numericDate(match: RegExpExecArray, locale: Locale): Part | undefined {
  const [, first = '', gap = '/', second = '', year = ''] = match
  const [day, month] = locale.dayFirst ? [first, second] : [second, first]
  const fullYear = year.length === 2 ? String(Number(year) + (Number(year) < 50 ? 2000 : 1900)) : year
  const years = year.length === 2 ? 'yy' : 'yyyy'
  const pattern = locale.dayFirst ? `dd${gap}mm${gap}${years}` : `m${gap}d${gap}${years}`
  return dated(fullYear, month, day, pattern)
}

function namedDate(
  year: string | undefined,
  name: string | undefined,
  day: string | undefined,
  pattern: (month: string) => string,
): Part | undefined {
  const lower = (name ?? '').toLowerCase()
  const full = FULL_MONTHS.indexOf(lower)
  const month = full >= 0 ? full : MONTHS.indexOf(lower)
  if (month < 0) return undefined
  return dated(year, String(month + 1), day, pattern(full >= 0 && lower !== 'may' ? 'mmmm' : 'mmm'))
}

function dated(year?: string, month?: string, day?: string, pattern = ''): Part | undefined {
  const serial = serialOfDate(Number(year), Number(month), Number(day))
  return serial === undefined ? undefined : { serial, pattern }
}

function parseTime(text: string): Part | undefined {
  const match = /^(\d{1,4}):(\d{2})(?::(\d{2})(\.\d{1,3})?)?\s*(am|pm)?$/i.exec(text)
  if (!match) return undefined
  const [, hours = '', minutes = '', seconds, fraction, half] = match
  let hour = Number(hours)
  if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) return undefined
  if (half) {
    if (hour < 1 || hour > 12) return undefined
    hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  }
  const total = hour * 3600 + Number(minutes) * 60 + Number(seconds ?? 0) + Number(fraction ?? 0)
  const hourPattern = hour >= 24 ? '[h]' : 'h'
  const pattern = `${hourPattern}:mm${seconds === undefined ? '' : ':ss'}${fraction ? '.000' : ''}${half ? ' AM/PM' : ''}`
  return { serial: total / 86_400, pattern }
}
