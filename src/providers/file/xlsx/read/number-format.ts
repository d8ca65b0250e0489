/** What the number in a cell stands for, as its format shows it. */
export type NumberFormatKind = 'number' | 'date' | 'date-time' | 'time' | 'duration' | 'date-or-time'

/** A format can choose by value (`[<1]h:mm;yyyy-mm-dd`), so the kind is known once the number is. */
export type NumberFormat = (value: number) => NumberFormatKind

const number: NumberFormat = () => 'number'
const date: NumberFormat = () => 'date'
const time: NumberFormat = () => 'time'
const dateTime: NumberFormat = () => 'date-time'
const duration: NumberFormat = () => 'duration'
/** Time in Chinese workbooks, date in Japanese and Korean ones, and the file does not say which it is. */
const dateOrTime: NumberFormat = () => 'date-or-time'

/** ECMA-376-1, 18.8.30 numFmt: the formats that have an id and no code in the file. 27 and up depend on language. */
const BUILT_IN: ReadonlyMap<number, NumberFormat> = new Map([
  ...ids(14, 17, date),
  ...ids(18, 21, time),
  ...ids(22, 22, dateTime),
  ...ids(27, 31, date),
  ...ids(32, 33, time),
  ...ids(34, 35, dateOrTime),
  ...ids(36, 36, date),
  ...ids(45, 45, time),
  ...ids(46, 46, duration),
  ...ids(47, 47, time),
  ...ids(50, 51, date),
  ...ids(52, 53, dateOrTime),
  ...ids(54, 54, date),
  ...ids(55, 56, dateOrTime),
  ...ids(57, 58, date),
  // Thai
  ...ids(71, 74, date),
  ...ids(75, 76, time),
  ...ids(77, 77, dateTime),
  ...ids(78, 78, time),
  ...ids(79, 79, duration),
  ...ids(80, 80, time),
  ...ids(81, 81, date),
])

function ids(first: number, last: number, format: NumberFormat): [number, NumberFormat][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, format])
}

export function builtInFormat(id: number): NumberFormat {
  return BUILT_IN.get(id) ?? number
}

/** Excel takes 255 characters at most. */
const MAX_CODE_CHARS = 255

export function parseNumberFormat(code: string): NumberFormat {
  if (code.length > MAX_CODE_CHARS) return number
  const sections = withoutLiterals(code).split(';')
  const choices = sections.map((section) => ({ holds: condition(section), kind: kindOfSection(section) }))
  const firstKind = choices[0]?.kind ?? 'number'
  // Without conditions the first section is for positive numbers, and there are no negative dates.
  if (choices.every((choice) => choice.holds === undefined)) return () => firstKind
  return (value) => choices.find((choice) => choice.holds?.(value) ?? true)?.kind ?? 'number'
}

/** Quoted text, `\x`, `_x` (as wide as x) and `*x` (filled with x) stand for no part of the number. */
function withoutLiterals(code: string): string {
  return code.replace(/"[^"]*"?|[\\_*]./gsu, ' ')
}

function condition(section: string): ((value: number) => boolean) | undefined {
  const found = /\[(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)\s*\]/.exec(section)
  const limit = Number(found?.[2])
  switch (found?.[1]) {
    case '<':
      return (value) => value < limit
    case '<=':
      return (value) => value <= limit
    case '>':
      return (value) => value > limit
    case '>=':
      return (value) => value >= limit
    case '=':
      return (value) => value === limit
    case '<>':
      return (value) => value !== limit
    default:
      return undefined
  }
}

function kindOfSection(section: string): NumberFormatKind {
  const elapsed = /\[(?:h+|m+|s+)\]/i.test(section)
  const code = section
    .replace(/\[s+\]/gi, 's')
    .replace(/\[(?:h+|m+)\]|am\/pm|a\/p/gi, 'h')
    .replace(/\[[^\]]*\]?/g, ' ')
    .replace(/general|standard/gi, '0')
    .replace(/a{3,4}/gi, 'd')
    .replace(/s\.0+/gi, 's')
    .toLowerCase()
  // Digit places belong to numbers; the E of 0.00E+00 is then no Japanese year.
  if (/[0#?@]/.test(code)) return 'number'
  const letters = code.replace(/[^ymdhsegb]/g, '')
  const hasTime = /[hs]/.test(letters)
  // m is a minute right after an hour or right before a second, else a month.
  const hasDate = /[ymdegb]/.test(letters.replace(/(?<=h)m{1,2}(?!m)|(?<!m)m{1,2}(?=s)/g, ''))
  if (hasDate) return hasTime ? 'date-time' : 'date'
  if (elapsed) return 'duration'
  return hasTime ? 'time' : 'number'
}
