/**
 * Times as text that sorts by time: `d` and a date-time, or `c` and a time of day or duration. Keys with different
 * first letters have nothing to do with each other.
 */
export type TimeKey = string

export type TimeShape = 'date' | 'date-time' | 'time' | 'duration'

/** Hours of a duration may be many; padded, they sort as text. */
const hourDigits = 12
/** Milliseconds are written where there are any, and then all three. */
const cellPattern =
  /^(?:(\d{4}-\d\d-\d\d)(?:[tT](\d\d:\d\d:\d\d(?:\.(?!000)\d{3})?))?|((?:\d\d|[1-9]\d{2,11}):\d\d:\d\d(?:\.(?!000)\d{3})?))$/
const valuePattern =
  /^(?:(\d{4}-\d\d-\d\d)(?:[tT](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?|((?:\d\d|[1-9]\d{2,11}):\d\d(?::\d\d(?:\.\d{1,9})?)?))$/

/** Which of the shapes that dates have as cells (docs/contract.md#values) a text has. */
export function timeShape(text: string): TimeShape | null {
  if (!mayBeTime(text)) return null
  const match = cellPattern.exec(text)
  if (!match || !isReal(match)) return null
  const [, date, time, clock] = match
  if (date !== undefined) return time === undefined ? 'date' : 'date-time'
  return clock?.indexOf(':') === 2 && clock < '24' ? 'time' : 'duration'
}

/** The key of a cell's text, where it has one of these shapes. */
export function timeKeyOfCell(text: string): TimeKey | null {
  return mayBeTime(text) ? keyOf(cellPattern.exec(text)) : null
}

/** The key of a filter's value: seconds may be missing or have fractions. */
export function timeKeyOfValue(text: string): TimeKey | null {
  return keyOf(valuePattern.exec(text))
}

/** Every folded cell text that has this key. */
export function cellTextsAt(key: TimeKey): string[] {
  const [whole = '', decimals] = key.slice(1).split('.')
  if (decimals !== undefined && decimals.length > 3) return []
  const text = decimals === undefined ? whole : `${whole}.${decimals.padEnd(3, '0')}`
  if (key.startsWith('c')) return [text.replace(/^0+(?=\d\d)/, '')]
  return text.endsWith('t00:00:00') ? [text.slice(0, 10), text] : [text]
}

const longestCell = '2026-11-15T09:30:00.250'.length

/** Nearly every text is told apart by this, without the pattern. */
function mayBeTime(text: string): boolean {
  if (text.length < 8 || text.length > longestCell) return false
  const first = text.charCodeAt(0)
  return first >= 0x30 && first <= 0x39
}

function keyOf(match: RegExpExecArray | null): TimeKey | null {
  if (!match || !isReal(match)) return null
  const [, date, time, clock = ''] = match
  if (date !== undefined) return `d${date}t${time === undefined ? '00:00:00' : withSeconds(time)}`
  return `c${withSeconds(clock.padStart(clock.length + hourDigits - clock.indexOf(':'), '0'))}`
}

function withSeconds(clock: string): string {
  const minutesEnd = clock.indexOf(':') + 3
  if (clock.length === minutesEnd) return `${clock}:00`
  return clock.includes('.') ? clock.replace(/\.?0*$/, '') : clock
}

/** `2026-02-30` and `09:75:00` are text. */
function isReal([, date, time, clock]: RegExpExecArray): boolean {
  if (clock !== undefined) return hasMinutesAndSeconds(clock)
  if (date === undefined) return false
  const year = Number(date.slice(0, 4))
  const month = Number(date.slice(5, 7))
  const day = Number(date.slice(8, 10))
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false
  return time === undefined || (time < '24' && hasMinutesAndSeconds(time))
}

function hasMinutesAndSeconds(clock: string): boolean {
  const [, minutes = '', seconds = '00'] = clock.split(':')
  return minutes < '60' && seconds < '60'
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
