import type { NumberFormatKind } from './number-format.ts'

const MS_PER_DAY = 86_400_000
const MS_PER_SECOND = 1000
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
  // A double holds a date of ours to a few nanoseconds: what is left of a millisecond is rounding.
  const totalMs = Math.round(serial * MS_PER_DAY)
  const day = Math.floor(totalMs / MS_PER_DAY)
  const msOfDay = totalMs - day * MS_PER_DAY
  const day1900 = serialDay1900(day, uses1904)
  if (day1900 > LAST_DAY_1900) return serial
  if (kind === 'duration') return clock(totalMs)
  if (kind === 'time' || (kind === 'date-or-time' && serial < 1)) return clock(msOfDay)
  if (day1900 === 0 || day1900 === PHANTOM_LEAP_DAY) return serial
  const calendarDay = calendarDayOfSerial(day1900)
  return kind === 'date-time' ? `${calendarDay}T${clock(msOfDay)}` : calendarDay
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
/** A length of time, which Strict workbooks have in cells without a date. */
const ISO_DURATION = /^P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d+)?)S)?)?$/

interface IsoCell {
  hasDate: boolean
  hasTime: boolean
  /** Since 1970, or since midnight where there is no date. */
  totalMs: number
}

/** A `t="d"` cell. Its zone, if it has one, is dropped: a cell shows its own clock. */
function parseIsoCell(text: string): IsoCell | undefined {
  const match = ISO_CELL.exec(text)
  if (match === null) return parseIsoDuration(text)
  const [, year, month, dayOfMonth, hours, minutes, seconds] = match
  const hasDate = year !== undefined
  const hasTime = hours !== undefined
  if (!hasDate && !hasTime) return undefined
  const dayMs = hasDate ? Date.UTC(Number(year), Number(month) - 1, Number(dayOfMonth)) : 0
  return { hasDate, hasTime, totalMs: dayMs + msOf(hours, minutes, seconds) }
}

function parseIsoDuration(text: string): IsoCell | undefined {
  const [, days, hours, minutes, seconds] = ISO_DURATION.exec(text) ?? []
  if ((days ?? hours ?? minutes ?? seconds) === undefined) return undefined
  const totalMs = Number(days ?? 0) * MS_PER_DAY + msOf(hours, minutes, seconds)
  return { hasDate: false, hasTime: true, totalMs }
}

function msOf(hours = '0', minutes = '0', seconds = '0'): number {
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * MS_PER_SECOND)
}

/**
 * Words an ISO cell as docs/contract.md#values wants it. Under a format of dates or times it is as if the cell held the number;
 * without one it is what it says. What is no date and no time stays text.
 */
export function formatIsoCell(text: string, kind: NumberFormatKind, uses1904: boolean): string | number {
  const cell = parseIsoCell(text)
  if (cell === undefined) return text
  const serial = kind === 'number' ? undefined : serialOf(cell, uses1904)
  if (serial !== undefined && (cell.hasDate || kind === 'time' || kind === 'duration')) {
    return formatSerial(serial, kind, uses1904)
  }
  const { hasDate, hasTime, totalMs } = cell
  if (!hasDate) return clock(totalMs)
  const unixDay = Math.floor(totalMs / MS_PER_DAY)
  return hasTime ? `${calendarDay(unixDay)}T${clock(totalMs - unixDay * MS_PER_DAY)}` : calendarDay(unixDay)
}

/** The number that a cell with this date would hold in the workbook's own system, if that system has the date. */
export function serialOfIsoCell(text: string, uses1904: boolean): number | undefined {
  const cell = parseIsoCell(text)
  return cell && serialOf(cell, uses1904)
}

/** Excel counts these dates by the true calendar from 30 December 1899 on: its day 1 is written as the 31st. */
function serialOf({ hasDate, totalMs }: IsoCell, uses1904: boolean): number | undefined {
  const days = totalMs / MS_PER_DAY
  if (!hasDate) return days
  const own = days + UNIX_EPOCH_SERIAL - (uses1904 ? DAYS_FROM_1900_TO_1904 : 0)
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

/** Hours run past 24 for a duration. Milliseconds are there where there are any. */
function clock(totalMs: number): string {
  const totalSeconds = Math.floor(totalMs / MS_PER_SECOND)
  const hours = Math.floor(totalSeconds / 3600)
  const minutes = Math.floor(totalSeconds / 60) % 60
  const ms = totalMs - totalSeconds * MS_PER_SECOND
  const decimals = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`
  return `${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(totalSeconds % 60)}${decimals}`
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
