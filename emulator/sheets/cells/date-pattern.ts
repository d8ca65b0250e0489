import { type CalendarTime, calendarOf } from './serial-date.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

const TOKEN = /\[h+\]|\[m+\]|\[s+\]|am\/pm|a\/p|"[^"]*"|\\.|y+|m+|d+|h+|s+|\.0+|./gis

type Piece = (serial: number, at: CalendarTime) => string

/** A column of dates has one pattern and many cells: it is read once. */
const readPatterns = new Map<string, Piece[]>()
const mostPatterns = 1000

/** A number shown through a date, time or duration pattern, in English month and day names. */
export function formatDate(serial: number, pattern: string): string {
  const at = calendarOf(serial)
  let text = ''
  for (const piece of piecesOf(pattern)) text += piece(serial, at)
  return text
}

function piecesOf(pattern: string): Piece[] {
  const known = readPatterns.get(pattern)
  if (known) return known
  const tokens = pattern.match(TOKEN) ?? []
  const twelveHours = tokens.some((token) => /^(am\/pm|a\/p)$/i.test(token))
  const pieces = tokens.map((token, index) => pieceOf(token, isMinute(tokens, index), twelveHours))
  if (readPatterns.size >= mostPatterns) readPatterns.clear()
  readPatterns.set(pattern, pieces)
  return pieces
}

function pieceOf(token: string, asMinute: boolean, twelveHours: boolean): Piece {
  const lower = token.toLowerCase()
  const width = token.length
  if (token.startsWith('"')) return () => token.slice(1, -1)
  if (token.startsWith('\\')) return () => token.slice(1)
  if (lower.startsWith('[h')) return (serial) => pad(Math.floor(serial * 24 + 1e-9), width - 2)
  if (lower.startsWith('[m')) return (serial) => pad(Math.floor(serial * 1440 + 1e-7), width - 2)
  if (lower.startsWith('[s')) return (serial) => pad(Math.round(serial * 86400), width - 2)
  if (lower === 'am/pm') return (_, at) => (at.hour < 12 ? 'AM' : 'PM')
  if (lower === 'a/p') return (_, at) => (at.hour < 12 ? 'A' : 'P')
  if (lower.startsWith('y')) return (_, at) => (width <= 2 ? pad(at.year % 100, 2) : pad(at.year, 4))
  if (lower.startsWith('d')) return (_, at) => day(at.day, at.weekday, width)
  if (lower.startsWith('h')) return (_, at) => pad(twelveHours ? ((at.hour + 11) % 12) + 1 : at.hour, width)
  if (lower.startsWith('s')) return (_, at) => pad(at.second, width)
  if (lower.startsWith('m'))
    return asMinute ? (_, at) => pad(at.minute, width) : (_, at) => month(at.month, width)
  if (/^\.0+$/.test(token)) return (_, at) => `.${pad(at.millisecond, 3).slice(0, width - 1)}`
  return () => token
}

/** An m is minutes right after hours or right before seconds, else months. */
function isMinute(tokens: string[], index: number): boolean {
  const dateLetter = (token: string) => /^(\[?[hmsyd])/i.test(token)
  const before = tokens.slice(0, index).findLast(dateLetter)
  const after = tokens.slice(index + 1).find(dateLetter)
  return /^\[?h/i.test(before ?? '') || /^\[?s/i.test(after ?? '')
}

function month(number: number, width: number): string {
  const name = MONTHS[number - 1] ?? ''
  if (width >= 5) return name.slice(0, 1)
  if (width === 4) return name
  return width === 3 ? name.slice(0, 3) : pad(number, width)
}

function day(number: number, weekday: number, width: number): string {
  const name = DAYS[weekday] ?? ''
  if (width >= 4) return name
  return width === 3 ? name.slice(0, 3) : pad(number, width)
}

function pad(number: number, width: number): string {
  return String(number).padStart(width, '0')
}
