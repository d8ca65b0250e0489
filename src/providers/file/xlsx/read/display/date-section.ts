import { calendarDayOfSerial, LAST_DAY_1900, serialDay1900 } from '../date.ts'
import { type DateNames, dateNames } from './date-names.ts'
import { type FormatSection, type FormatToken, isDecimalOfSecond } from './format-code.ts'
import { datePartInNumerals } from './numerals.ts'

const SECONDS_PER_DAY = 86_400
/** Decimal places of a second. */
const MILLISECONDS = 3
const BUDDHIST_YEARS = 543

interface ShownMoment {
  /** In the calendar that we all share. */
  year: number
  /** In that of the section. */
  yearShown: number
  month: number
  day: number
  weekday: number
  /** Seconds since the day began. */
  second: number
  /** Since day 0. */
  totalSeconds: number
  /** Decimals of the second, as many as are shown. */
  decimals: string
}

/** A serial number as a section of dates and times shows it; undefined where there is no such date. */
export function displayDate(
  serial: number,
  { tokens, locale, numerals }: FormatSection,
  uses1904: boolean,
): string | undefined {
  const decimalPlaces = tokens.filter((_, at) => isDecimalOfSecond(tokens, at)).length
  const moment = momentOf(serial, showsClock(tokens) ? decimalPlaces : MILLISECONDS, uses1904)
  if (moment === undefined) return undefined
  if (locale?.isBuddhist) moment.yearShown += BUDDHIST_YEARS
  const names = namesBeside(tokens, dateNames(locale))
  const hasHalves = tokens.some(({ kind }) => kind === 'half-day')
  const counted = new Set(tokens.filter(({ kind }) => kind === 'elapsed').map(({ text }) => text[0]))
  // Not beside decimals of a second and counted time, where nobody has seen what Excel does, and not in names (3月).
  const isPlain = decimalPlaces === 0 && counted.size === 0
  const inNumerals = (part: string): string =>
    numerals && isPlain && /^\d+$/.test(part) ? datePartInNumerals(part, numerals) : part
  let decimalsShown = 0
  return tokens
    .map((token, at) => {
      if (isDecimalOfSecond(tokens, at)) return moment.decimals[decimalsShown++] ?? '0'
      switch (token.kind) {
        case 'elapsed':
          return displayElapsed(moment, token.text)
        case 'half-day':
          return displayHalf(moment, token.text, names)
        case 'date':
          // Beside `[h]` an `h` counts the same hours.
          if (counted.has(token.text[0])) return displayElapsed(moment, token.text)
          return inNumerals(
            displayUnit(
              moment,
              meansMinutes(tokens, at) ? token.text.replaceAll('m', 'i') : token.text,
              hasHalves,
              names,
            ),
          )
        case 'slash':
          return names.dateSeparator
        default:
          return token.text
      }
    })
    .join('')
}

/** In some languages months are inflected where the section also shows the number of a day. */
function namesBeside(tokens: readonly FormatToken[], names: DateNames): DateNames {
  const hasDay = tokens.some(({ kind, text }) => kind === 'date' && /^d{1,2}$/.test(text))
  return hasDay ? { ...names, months: names.monthsOfDays } : names
}

/** Where no time is shown, the last moments of a day are still that day, as in its typed value. */
function showsClock(tokens: readonly FormatToken[]): boolean {
  return tokens.some(
    ({ kind, text }) => kind === 'elapsed' || kind === 'half-day' || (kind === 'date' && /^[hs]/.test(text)),
  )
}

function momentOf(serial: number, decimalPlaces: number, uses1904: boolean): ShownMoment | undefined {
  const perSecond = 10 ** decimalPlaces
  const exact = serial * SECONDS_PER_DAY * perSecond
  // To 15 digits, as half of the last place is often a little less in binary. Whole seconds are not shown so by anybody.
  const total = Math.round(decimalPlaces > 0 ? Number(exact.toPrecision(15)) : exact)
  const totalSeconds = Math.floor(total / perSecond)
  const day = serialDay1900(Math.floor(totalSeconds / SECONDS_PER_DAY), uses1904)
  if (serial < 0 || day > LAST_DAY_1900) return undefined
  const [year = 0, month = 0, dayOfMonth = 0] = calendarDayOfSerial(day).split('-').map(Number)
  return {
    year,
    yearShown: year,
    month,
    day: dayOfMonth,
    // Day 1 is a Sunday to Excel, which counts a 29 February 1900.
    weekday: (day + 6) % 7,
    second: totalSeconds % SECONDS_PER_DAY,
    totalSeconds,
    decimals: String(total % perSecond).padStart(decimalPlaces, '0'),
  }
}

/** `m` is a minute right after an hour, right before a second or beside a count of time, else a month. */
function meansMinutes(tokens: readonly FormatToken[], at: number): boolean {
  const token = tokens[at]
  if (token?.kind !== 'date' || !/^m{1,2}$/.test(token.text)) return false
  if (tokens.some(({ kind }) => kind === 'elapsed')) return true
  const isUnit = ({ kind }: FormatToken): boolean => kind === 'date' || kind === 'elapsed'
  const before = tokens.slice(0, at).findLast(isUnit)
  const after = tokens.slice(at + 1).find(isUnit)
  return (before?.text.startsWith('h') ?? false) || (after?.text.startsWith('s') ?? false)
}

function displayUnit(moment: ShownMoment, unit: string, hasHalves: boolean, names: DateNames): string {
  const { length } = unit
  const hour = Math.floor(moment.second / 3600)
  switch (unit[0]) {
    case 'y':
      return length <= 2 ? padNumber(moment.yearShown % 100, 2) : padNumber(moment.yearShown, 4)
    case 'e':
      return padNumber(moment.yearShown, 4)
    case 'b':
      return length <= 2
        ? padNumber((moment.year + BUDDHIST_YEARS) % 100, 2)
        : String(moment.year + BUDDHIST_YEARS)
    case 'm': {
      if (length <= 2) return padNumber(moment.month, length)
      const name = (length === 3 ? names.shortMonths : names.months)[moment.month - 1] ?? ''
      return length === 5 ? name.slice(0, 1) : name
    }
    // In East Asian codes, the name of the day.
    case 'a':
    case 'd': {
      if (length <= 2) return padNumber(moment.day, length)
      return (length === 3 ? names.shortWeekdays : names.weekdays)[moment.weekday] ?? ''
    }
    case 'h':
      return padNumber(hasHalves ? hour % 12 || 12 : hour, Math.min(length, 2))
    case 'i':
      return padNumber(Math.floor(moment.second / 60) % 60, length)
    case 's':
      return padNumber(moment.second % 60, Math.min(length, 2))
    default:
      // The name of a Japanese era: it is not told which, and in English there is none.
      return ''
  }
}

function displayElapsed({ totalSeconds }: ShownMoment, unit: string): string {
  const seconds = { h: 3600, m: 60, s: 1 }[unit[0] ?? 's'] ?? 1
  return padNumber(Math.floor(totalSeconds / seconds), unit.length)
}

function displayHalf({ second }: ShownMoment, code: string, { halves }: DateNames): string {
  // `a/p` stays as it is written, in any language.
  const [morning = '', afternoon = ''] = code.length === 3 ? code.split('/') : halves
  return second < SECONDS_PER_DAY / 2 ? morning : afternoon
}

function padNumber(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
