import { type SerialKind, wholeMs } from './serial-text.ts'

/** What a date or time is, told from the number behind it and the text that its cell shows. */
export interface Shown {
  kind: SerialKind
  /** Whether every number in the text is a part of this date: if not, the text may belong to another value. */
  isPlausible: boolean
}

/** 9:30, 09:30:15.250, 25:30:00: no date is ever written with colons. */
const colonTime = /(\d+):(\d{1,2})(?::(\d{1,2}))?(?:[.,](\d{1,3}))?/
/** 9h30, 9 h, 9時30分, 9시 30분; but not the month in 15 huhtikuuta. */
const letterTime =
  /(\d+) ?(?:[hH](?!\p{L})|時|时|點|点|시)(?: ?(\d{1,2}) ?(?:min(?!\p{L})|m(?!\p{L})|分|분)?)?(?: ?(\d{1,2}) ?(?:s(?!\p{L})|秒|초)?)?/u
/** 9.30 or 9.30.15, as in Finland, Denmark, Italy and Indonesia; only the number behind it tells it from a day. */
const dottedTime = /(?<![\d.])(\d{1,3})\.(\d{2})(?:\.(\d{2}))?(?![\d.])/g
const hourAlone = /(?<![\d:.])(\d{1,2}) ?(?=\p{L}|$)/u
/** Before or after noon, in the words of many languages. */
const halfOfDay =
  /(?<!\p{L})(?:[ap]\.? ?m\.?|[ap]|上午|下午|午前|午後|오전|오후|ص|م|π\.?μ\.?|μ\.?μ\.?|SA|CH|ÖÖ|ÖS|de\.|du\.|dop\.|odp\.|fm|em|f\.h\.|e\.h\.|पूर्वाह्न|अपराह्न|ก่อนเที่ยง|หลังเที่ยง)(?!\p{L})/giu

interface Parts {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  thousandth: number
  /** Since zero, for formats that let them run past a day. */
  totalHours: number
  totalMinutes: number
  totalSeconds: number
}

/** `2026-11-15`, `15/11/2026 9:30`: how most are written, and told sooner. */
const numericDate = /^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?: (\d{1,2}:\d\d(?::\d\d)?))?$/

export function shownAs(serial: number, text: string): Shown {
  const numeric = isTimeOfDay(serial) ? null : numericDate.exec(text)
  if (numeric) {
    const kind = numeric[1] === undefined ? 'date' : 'date-time'
    return { kind, isPlausible: isExplained(text, choicesOf(serial)) }
  }
  // Most dates are written with nothing else, and the expressions for all the others cost ten times as much.
  const isPlain = /^[\d/: -]+$/.test(text)
  const shown = isPlain ? text : withPlainDigits(text)
  const choices = choicesOf(serial)
  const time = timeIn(shown, choices, isPlain)
  const rest = time === null ? shown : shown.replace(time.text, ' ').replace(halfOfDay, ' ')
  const hasDate = time === null || (hasWords(rest) && !isFirstDay(serial, rest))
  const isPlausible = isExplained(shown, choices)
  if (time === null && isElapsedCount(shown, serial, choices)) return { kind: 'elapsed', isPlausible }
  if (time === null && isTimeOfDay(serial) && !namesFirstDay(shown)) return { kind: 'time', isPlausible }
  if (hasDate) return { kind: time === null ? 'date' : 'date-time', isPlausible }
  return { kind: runsPastADay(serial, time, choices) ? 'elapsed' : 'time', isPlausible }
}

interface TimeText {
  text: string
  first: number
}

function timeIn(shown: string, choices: readonly Parts[], isPlain: boolean): TimeText | null {
  const plain = colonTime.exec(shown) ?? (isPlain ? null : letterTime.exec(shown))
  if (isPlain && !plain) return null
  if (plain) return { text: plain[0], first: Number(plain[1]) }
  for (const [text, first, minute, second] of shown.matchAll(dottedTime)) {
    if (choices.some((parts) => isClock(parts, Number(first), Number(minute), second))) {
      const looksLikeDay = choices.some((parts) => isDayAndMonth(parts, Number(first), Number(minute)))
      const hasOther = /\d/.test(shown.replace(text, ''))
      if (!looksLikeDay || hasOther) return { text, first: Number(first) }
    }
  }
  if (shown.search(halfOfDay) < 0) return null
  const hour = hourAlone.exec(shown)
  const number = Number(hour?.[1])
  return hour && choices.some((parts) => isHour(parts, number)) && !/\d/.test(shown.replace(hour[0], ''))
    ? { text: hour[0], first: number }
    : null
}

function isClock(parts: Parts, hour: number, minute: number, second: string | undefined): boolean {
  return (
    isHour(parts, hour) &&
    parts.minute === minute &&
    (second === undefined || parts.second === Number(second))
  )
}

function isHour({ hour, totalHours }: Parts, number: number): boolean {
  return number === hour || number === ((hour + 11) % 12) + 1 || number === Math.abs(totalHours)
}

function isDayAndMonth({ day, month }: Parts, one: number, other: number): boolean {
  return (one === day && other === month) || (one === month && other === day)
}

function hasWords(text: string): boolean {
  return /[\d\p{L}]/u.test(text)
}

/** 1899-12-30 is what every time of day falls on: only a text that says so means it. */
function isTimeOfDay(serial: number): boolean {
  return serial >= 0 && serial < 1
}

function isFirstDay(serial: number, rest: string): boolean {
  return isTimeOfDay(serial) && !namesFirstDay(rest)
}

function namesFirstDay(text: string): boolean {
  const numbers = numbersIn(text).map(Number)
  return numbers.includes(1899) || (numbers.includes(30) && (numbers.includes(12) || /\p{L}{3}/u.test(text)))
}

/** `[s]`, `[m]` and `[h]` alone: one number, and it is the whole count. */
function isElapsedCount(shown: string, serial: number, choices: readonly Parts[]): boolean {
  if (isTimeOfDay(serial) || !/^-?\d+$/.test(shown.trim())) return false
  const number = Math.abs(Number(shown))
  return choices.some(({ totalHours, totalMinutes, totalSeconds }) =>
    [totalHours, totalMinutes, totalSeconds].some((total) => Math.abs(total) === number),
  )
}

function runsPastADay(serial: number, time: TimeText | null, choices: readonly Parts[]): boolean {
  if (time === null || isTimeOfDay(serial)) return false
  return choices.some(
    ({ hour, totalHours, totalMinutes }) =>
      time.first !== hour && (time.first === Math.abs(totalHours) || time.first === Math.abs(totalMinutes)),
  )
}

function numbersIn(text: string): string[] {
  return text.match(/\d+/g) ?? []
}

/** Every number in the text is a part of the date, and there is at least one. */
function isExplained(shown: string, choices: readonly Parts[]): boolean {
  const numbers = numbersIn(shown)
  return (
    numbers.length > 0 && numbers.every((number) => choices.some((parts) => isPartOf(parts, Number(number))))
  )
}

function isPartOf(parts: Parts, number: number): boolean {
  const { year, month, day, hour, minute, second, totalHours, totalMinutes, totalSeconds, thousandth } = parts
  return (
    number === year ||
    number === year % 100 ||
    number === month ||
    number === day ||
    number === hour ||
    number === ((hour + 11) % 12) + 1 ||
    number === minute ||
    number === second ||
    number === thousandth ||
    number === Math.abs(totalHours) ||
    number === Math.abs(totalMinutes) ||
    number === Math.abs(totalSeconds)
  )
}

/** A second is rounded by some formats and cut off by others. */
function choicesOf(serial: number): Parts[] {
  const ms = wholeMs(serial)
  const roundedMs = Math.round(ms / 1_000) * 1_000
  return ms === roundedMs ? [partsOf(ms)] : [partsOf(ms), partsOf(roundedMs)]
}

function partsOf(ms: number): Parts {
  const at = new Date(Date.UTC(1899, 11, 30) + ms)
  return {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
    thousandth: at.getUTCMilliseconds(),
    totalHours: Math.trunc(ms / 3_600_000),
    totalMinutes: Math.trunc(ms / 60_000),
    totalSeconds: Math.trunc(ms / 1_000),
  }
}

/** Arabic, Persian, Thai and other digits as the ten that we know: each script has its own in one row from 0 to 9. */
function withPlainDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0
    let zero = code
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero--
    return String(code - zero)
  })
}
