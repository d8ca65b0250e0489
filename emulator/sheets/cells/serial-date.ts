/** Dates as spreadsheets count them: days since 1899-12-30, the time of day as the fraction. */

export const DAY_MS = 86_400_000
export const EPOCH_MS = Date.UTC(1899, 11, 30)

export interface CalendarTime {
  year: number
  month: number
  day: number
  weekday: number
  hour: number
  minute: number
  second: number
  millisecond: number
}

/** undefined for a day the calendar does not have. */
export function serialOfDate(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    return undefined
  }
  return Math.round((date.getTime() - EPOCH_MS) / DAY_MS)
}

export function calendarOf(serial: number): CalendarTime {
  const date = new Date(EPOCH_MS + Math.round(serial * DAY_MS))
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: date.getUTCMilliseconds(),
  }
}
