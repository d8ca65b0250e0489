import { calendarDayOfSerial, LAST_DAY_1900, serialDay1900 } from '../date.ts'
import { type FormatToken, isDecimalOfSecond } from './format-code.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const SECONDS_PER_DAY = 86_400
/** Decimal places of a second. */
const MILLISECONDS = 3
const BUDDHIST_YEARS = 543

interface ShownMoment {
  year: number
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
  tokens: readonly FormatToken[],
  uses1904: boolean,
): string | undefined {
  const decimalPlaces = tokens.filter((_, at) => isDecimalOfSecond(tokens, at)).length
  const moment = momentOf(serial, showsClock(tokens) ? decimalPlaces : MILLISECONDS, uses1904)
  if (moment === undefined) return undefined
  const hasHalves = tokens.some(({ kind }) => kind === 'half-day')
  const counted = new Set(tokens.filter(({ kind }) => kind === 'elapsed').map(({ text }) => text[0]))
  let decimalsShown = 0
  return tokens
    .map((token, at) => {
      if (isDecimalOfSecond(tokens, at)) return moment.decimals[decimalsShown++] ?? '0'
      switch (token.kind) {
        case 'elapsed':
          return displayElapsed(moment, token.text)
        case 'half-day':
          return displayHalf(moment, token.text)
        case 'date':
          // Beside `[h]` an `h` counts the same hours.
          if (counted.has(token.text[0])) return displayElapsed(moment, token.text)
          return displayUnit(
            moment,
            meansMinutes(tokens, at) ? token.text.replaceAll('m', 'i') : token.text,
            hasHalves,
          )
        default:
          return token.text
      }
    })
    .join('')
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

function displayUnit(moment: ShownMoment, unit: string, hasHalves: boolean): string {
  const { length } = unit
  const hour = Math.floor(moment.second / 3600)
  switch (unit[0]) {
    case 'y':
      return length <= 2 ? padded(moment.year % 100, 2) : padded(moment.year, 4)
    case 'e':
      return padded(moment.year, 4)
    case 'b':
      return length <= 2
        ? padded((moment.year + BUDDHIST_YEARS) % 100, 2)
        : String(moment.year + BUDDHIST_YEARS)
    case 'm': {
      const name = MONTHS[moment.month - 1] ?? ''
      if (length === 5) return name.slice(0, 1)
      return length <= 2 ? padded(moment.month, length) : length === 3 ? name.slice(0, 3) : name
    }
    // In East Asian codes, the name of the day.
    case 'a':
    case 'd': {
      const name = WEEKDAYS[moment.weekday] ?? ''
      return length <= 2 ? padded(moment.day, length) : length === 3 ? name.slice(0, 3) : name
    }
    case 'h':
      return padded(hasHalves ? hour % 12 || 12 : hour, Math.min(length, 2))
    case 'i':
      return padded(Math.floor(moment.second / 60) % 60, length)
    case 's':
      return padded(moment.second % 60, Math.min(length, 2))
    default:
      // The name of a Japanese era: it is not told which, and in English there is none.
      return ''
  }
}

function displayElapsed({ totalSeconds }: ShownMoment, unit: string): string {
  const seconds = { h: 3600, m: 60, s: 1 }[unit[0] ?? 's'] ?? 1
  return padded(Math.floor(totalSeconds / seconds), unit.length)
}

function displayHalf({ second }: ShownMoment, code: string): string {
  // Excel keeps the case of `a/p` only.
  const [morning = '', afternoon = ''] = (code.length === 3 ? code : code.toUpperCase()).split('/')
  return second < SECONDS_PER_DAY / 2 ? morning : afternoon
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
