import type { NumberFormatKind } from './number-format.ts'

const SECONDS_PER_DAY = 86_400
const MS_PER_DAY = 86_400_000
/** 9999-12-31, the last day a spreadsheet knows. */
export const LAST_DAY_1900 = 2_958_465
const DAYS_FROM_1900_TO_1904 = 1462
/** The serial of 1970-01-01 in the 1900 system. */
const UNIX_EPOCH_SERIAL = 25_569
/** Excel counts a 29 February 1900 that never was. */
const PHANTOM_LEAP_DAY = 60

/** The cell as docs/contract.md#values wants it, or the number itself where no such date or time exists. */
export function formatSerial(serial: number, kind: NumberFormatKind, uses1904: boolean): string | number {
  if (kind === 'number' || serial < 0) return serial
  const totalSeconds = Math.round(serial * SECONDS_PER_DAY)
  const day = Math.floor(totalSeconds / SECONDS_PER_DAY)
  const second = totalSeconds - day * SECONDS_PER_DAY
  const day1900 = serialDay1900(day, uses1904)
  if (day1900 > LAST_DAY_1900) return serial
  if (kind === 'duration') return clock(totalSeconds)
  if (kind === 'time' || (kind === 'date-or-time' && serial < 1)) return clock(second)
  if (day1900 === 0 || day1900 === PHANTOM_LEAP_DAY) return serial
  const calendarDay = calendarDayOfSerial(day1900)
  return kind === 'date-time' ? `${calendarDay}T${clock(second)}` : calendarDay
}

/** A day of the workbook's own system in the one that begins in 1900. */
export function serialDay1900(day: number, uses1904: boolean): number {
  return uses1904 ? day + DAYS_FROM_1900_TO_1904 : day
}

/** `2026-11-15`. The two days that never were are as Excel shows them: `1900-01-00` and `1900-02-29`. */
export function calendarDayOfSerial(day1900: number): string {
  if (day1900 === 0) return '1900-01-00'
  if (day1900 === PHANTOM_LEAP_DAY) return '1900-02-29'
  return calendarDay(day1900 - UNIX_EPOCH_SERIAL + (day1900 < PHANTOM_LEAP_DAY ? 1 : 0))
}

const ISO_CELL =
  /^(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:T|^)(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?(?:Z|[+-]\d\d:\d\d)?$/

interface IsoCell {
  hasDate: boolean
  hasTime: boolean
  /** Since 1970, or since midnight where there is no date. */
  totalSeconds: number
}

/** A `t="d"` cell. Its zone, if it has one, is dropped: a cell shows its own clock. */
function parseIsoCell(text: string): IsoCell | undefined {
  const match = ISO_CELL.exec(text)
  if (match === null) return undefined
  const [, year, month, dayOfMonth, hours, minutes, seconds] = match
  const hasDate = year !== undefined
  const hasTime = hours !== undefined
  if (!hasDate && !hasTime) return undefined
  const ms = hasDate ? Date.UTC(Number(year), Number(month) - 1, Number(dayOfMonth)) : 0
  const totalSeconds =
    (ms / MS_PER_DAY) * SECONDS_PER_DAY +
    Math.round(Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0))
  return { hasDate, hasTime, totalSeconds }
}

/** Words an ISO cell as docs/contract.md#values wants it. What is no date and no time stays text. */
export function formatIsoCell(text: string, kind: NumberFormatKind): string {
  const cell = parseIsoCell(text)
  if (cell === undefined) return text
  const { hasDate, hasTime, totalSeconds } = cell
  const unixDay = Math.floor(totalSeconds / SECONDS_PER_DAY)
  const time = clock(totalSeconds - unixDay * SECONDS_PER_DAY)
  if (!hasDate || (hasTime && kind === 'time')) return time
  const showsTime = kind === 'date-time' || (hasTime && kind !== 'date')
  return showsTime ? `${calendarDay(unixDay)}T${time}` : calendarDay(unixDay)
}

/** The number that a cell with this date would hold in the workbook's own system, if that system has the date. */
export function serialOfIsoCell(text: string, uses1904: boolean): number | undefined {
  const cell = parseIsoCell(text)
  if (cell === undefined) return undefined
  const days = cell.totalSeconds / SECONDS_PER_DAY
  if (!cell.hasDate) return days
  const serial = days + UNIX_EPOCH_SERIAL
  const serial1900 = serial < PHANTOM_LEAP_DAY + 1 ? serial - 1 : serial
  const own = uses1904 ? serial1900 - DAYS_FROM_1900_TO_1904 : serial1900
  return own < 0 ? undefined : own
}

/**
 * The proleptic Gregorian calendar in whole numbers (days_from_civil, Hinnant, run backwards): no zone to slip
 * by, and ten times as fast as a Date. Years are counted from March, so that the leap day comes last.
 */
function calendarDay(unixDay: number): string {
  const dayFromMarch0000 = unixDay + 719_468
  const era = Math.floor(dayFromMarch0000 / 146_097)
  const dayOfEra = dayFromMarch0000 - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`
}

/** Hours run past 24 for a duration. */
function clock(totalSeconds: number): string {
  const hours = Math.floor(totalSeconds / 3600)
  const minutes = Math.floor(totalSeconds / 60) % 60
  return `${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(totalSeconds % 60)}`
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
