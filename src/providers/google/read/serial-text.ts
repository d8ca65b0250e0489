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
