/** What a number in a cell stands for, as its format shows it. */
export type SerialKind = 'date' | 'date-time' | 'time' | 'elapsed'

const msPerDay = 86_400_000
const msPerHour = 3_600_000
const msPerMinute = 60_000
/** 1899-12-30, Google's day 0. There is no 29 February 1900 here. */
const epochMs = Date.UTC(1899, 11, 30)
// Not by `Date.UTC`, which takes the years 0 to 99 for those of the last century.
const firstDay = (new Date(0).setUTCFullYear(0, 0, 1) - epochMs) / msPerDay
const lastDay = (Date.UTC(9999, 11, 31) - epochMs) / msPerDay

/** Rounded to the millisecond: the fraction of a day that is half past nine is no whole number of them. */
export function wholeMs(serial: number): number {
  return Math.round(serial * msPerDay)
}

const mostKnownTexts = 10_000

/** `serialText`, once for each number of a kind: a sheet has few days and many rows. */
export function createSerialTexts(): typeof serialText {
  const known = new Map<SerialKind, Map<number, string | number>>()
  return (serial, kind) => {
    const ofKind = known.get(kind) ?? new Map<number, string | number>()
    const before = ofKind.get(serial)
    if (before !== undefined) return before
    const text = serialText(serial, kind)
    if (ofKind.size >= mostKnownTexts) ofKind.clear()
    known.set(kind, ofKind.set(serial, text))
    return text
  }
}

/** The cell as docs/contract.md#values wants it, or the number itself where the calendar has no such day. */
export function serialText(serial: number, kind: SerialKind): string | number {
  const ms = wholeMs(serial)
  if (kind === 'elapsed') return ms < 0 ? `-${clockText(-ms)}` : clockText(ms)
  const day = Math.floor(ms / msPerDay)
  const ofDay = ms - day * msPerDay
  if (kind === 'time') return clockText(ofDay)
  if (day < firstDay || day > lastDay) return serial
  const date = dayText(day)
  return kind === 'date' ? date : `${date}T${clockText(ofDay)}`
}

export interface SerialOfText {
  serial: number
  /** A format under which it is shown as what it is. */
  format: { type: 'DATE' | 'TIME' | 'DATE_TIME'; pattern?: string }
}

const timeText = /^(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:T|^)(\d\d+):(\d\d):(\d\d(?:\.\d{3})?))?$/

/** The reverse of `serialText`; null for a text that is none of these. */
export function serialOfText(text: string): SerialOfText | null {
  const match = timeText.exec(text)
  if (!match || text === '') return null
  const [, year, month, day, hours, minutes, seconds] = match
  const ofDayMs =
    (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * msPerMinute + Number(seconds ?? 0) * 1_000
  if (year === undefined) {
    const elapsed = Number(hours) >= 24 ? { pattern: '[h]:mm:ss' } : {}
    return { serial: Math.round(ofDayMs) / msPerDay, format: { type: 'TIME', ...elapsed } }
  }
  const dayMs = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day)) - epochMs
  const serial = (dayMs + Math.round(ofDayMs)) / msPerDay
  return { serial, format: { type: hours === undefined ? 'DATE' : 'DATE_TIME' } }
}

const knownDays = new Map<number, string>()
const mostKnownDays = 10_000

/** A sheet has few days and many rows. */
function dayText(day: number): string {
  const known = knownDays.get(day)
  if (known !== undefined) return known
  const text = new Date(epochMs + day * msPerDay).toISOString().slice(0, 10)
  if (knownDays.size >= mostKnownDays) knownDays.clear()
  knownDays.set(day, text)
  return text
}

/** Hours run past 24 for what is elapsed; thousandths are told only where there are any. */
function clockText(ms: number): string {
  const hours = Math.floor(ms / msPerHour)
  const minutes = Math.floor(ms / msPerMinute) % 60
  const seconds = Math.floor(ms / 1_000) % 60
  const clock = `${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds)}`
  const thousandths = ms % 1_000
  return thousandths === 0 ? clock : `${clock}.${String(thousandths).padStart(3, '0')}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}
