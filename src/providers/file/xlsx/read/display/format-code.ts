import { type FormatLocale, readFormatLocale } from './format-locale.ts'
import { type NumeralStyle, type Numerals, numeralsOf } from './numerals.ts'

/** A piece of a number format's code (ECMA-376-1, 18.8.31). */
export type FormatToken =
  | { kind: 'literal'; text: string }
  | { kind: 'digit'; text: '0' | '#' | '?' }
  | { kind: 'point' | 'comma' | 'percent' | 'slash' | 'text' | 'general'; text: string }
  | { kind: 'exponent'; text: string }
  /** Letters that stand for a part of a date or time. */
  | { kind: 'date'; text: string }
  /** `[h]`: time that has passed, past its clock. */
  | { kind: 'elapsed'; text: string }
  | { kind: 'half-day'; text: string }

export interface FormatSection {
  tokens: FormatToken[]
  condition: FormatCondition | undefined
  isDate: boolean
  /** `0 m`: letters that stand for a part of a date beside places for digits. */
  mixesDigitsAndDates: boolean
  /** Absent where the code names no language. */
  locale: FormatLocale | undefined
  /** Absent where it shows digits. */
  numerals: Numerals | undefined
}

/** Formats that follow the settings of the system, whatever else their code says, as they are in English. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  f800: 'dddd, mmmm d, yyyy',
  'x-sysdate': 'dddd, mmmm d, yyyy',
  f400: 'h:mm:ss AM/PM',
  'x-systime': 'h:mm:ss AM/PM',
}

export interface FormatCondition {
  operator: string
  limit: number
  holds(value: number): boolean
}

const PATTERN =
  /"(?<quoted>[^"]*)"?|\\(?<escaped>.)|_(?<spaced>.)|\*(?<filled>.)|\[(?<elapsed>h+|m+|s+)\]|\[dbnum(?<numerals>[123])\]|\[\$-(?<system>f[48]00|x-sys(?:date|time))\]|\[\$(?<currency>[^\]-]*)(?:-(?<locale>[^\]]*))?\]|\[(?<operator><=|>=|<>|<|>|=)\s*(?<limit>-?\d+(?:\.\d+)?)\s*\]|\[[^\]]*\]?|(?<general>general|standard)|(?<halfDay>am\/pm|a\/p)|(?<exponent>e[+-])|(?<date>y+|m+|d+|a{3,4}|h+|s+|e+|g+|b+)|(?<digit>[0#?])|(?<sign>[.,%/@;])|(?<other>.)/gisu

const SIGNS = { '.': 'point', ',': 'comma', '%': 'percent', '/': 'slash', '@': 'text' } as const

/** The sections of a code, at most four, each taken apart. */
export function parseFormatCode(code: string): FormatSection[] {
  const sections: FormatSection[] = [emptySection()]
  const systemCodes = new Map<FormatSection, string>()
  const numeralStyles = new Map<FormatSection, NumeralStyle>()
  for (const { groups = {}, 0: all } of code.matchAll(PATTERN)) {
    const section = sections.at(-1) ?? emptySection()
    const { tokens } = section
    if (groups.locale !== undefined) section.locale ??= readFormatLocale(groups.locale)
    const literal = groups.quoted ?? groups.escaped ?? groups.currency ?? groups.other
    if (all === ';') sections.push(emptySection())
    else if (groups.system !== undefined)
      systemCodes.set(section, SYSTEM_CODES[groups.system.toLowerCase()] ?? '')
    else if (groups.numerals !== undefined)
      numeralStyles.set(section, Number(groups.numerals) as NumeralStyle)
    else if (literal !== undefined) tokens.push({ kind: 'literal', text: literal })
    else if (groups.spaced !== undefined) tokens.push({ kind: 'literal', text: ' ' })
    else if (groups.operator !== undefined)
      section.condition = condition(groups.operator, Number(groups.limit))
    else if (groups.elapsed !== undefined)
      tokens.push({ kind: 'elapsed', text: groups.elapsed.toLowerCase() })
    else if (groups.general !== undefined) tokens.push({ kind: 'general', text: all })
    else if (groups.halfDay !== undefined) tokens.push({ kind: 'half-day', text: all })
    else if (groups.exponent !== undefined) tokens.push({ kind: 'exponent', text: all })
    else if (groups.date !== undefined) tokens.push({ kind: 'date', text: all.toLowerCase() })
    else if (groups.digit !== undefined) tokens.push({ kind: 'digit', text: all as '0' })
    else if (groups.sign !== undefined) tokens.push({ kind: SIGNS[all as keyof typeof SIGNS], text: all })
  }
  for (const [section, systemCode] of systemCodes) {
    section.tokens = parseFormatCode(systemCode)[0]?.tokens ?? []
  }
  for (const [section, style] of numeralStyles) {
    section.numerals = numeralsOf(style, section.locale)
    // `[DBNum1]` alone is General.
    if (section.tokens.every(({ text }) => text === ''))
      section.tokens.push({ kind: 'general', text: 'General' })
  }
  for (const section of sections) settle(section)
  return sections.slice(0, 4)
}

function emptySection(): FormatSection {
  return {
    tokens: [],
    condition: undefined,
    isDate: false,
    mixesDigitsAndDates: false,
    locale: undefined,
    numerals: undefined,
  }
}

/** Digit places make a number of it, but for those of a second's decimals; where a text has its place, letters are then only letters. */
function settle(section: FormatSection): void {
  const { tokens } = section
  const hasDate = tokens.some(({ kind }) => kind === 'date' || kind === 'elapsed' || kind === 'half-day')
  const hasDigits = tokens.some(({ kind }, at) => isPlace(kind) && !isDecimalOfSecond(tokens, at))
  section.isDate = hasDate && !hasDigits
  section.mixesDigitsAndDates =
    tokens.some(isSurelyDate) &&
    tokens.some(({ kind }, at) => isNumberPlace(kind) && !isDecimalOfSecond(tokens, at))
  section.tokens = tokens.map((token): FormatToken => {
    const isLetter = token.kind === 'date' || token.kind === 'half-day' || token.kind === 'elapsed'
    // `e-` without digits before it is the year of an era and a dash.
    if (section.isDate && token.kind === 'exponent') return { kind: 'literal', text: token.text }
    return isLetter && !section.isDate ? { kind: 'literal', text: token.text } : token
  })
}

function isPlace(kind: FormatToken['kind']): boolean {
  return isNumberPlace(kind) || kind === 'text'
}

function isNumberPlace(kind: FormatToken['kind']): boolean {
  return kind === 'digit' || kind === 'general'
}

/** Other letters stand for a date in some languages only: `0 kg` is a unit to everybody else. */
function isSurelyDate({ kind, text }: FormatToken): boolean {
  return kind === 'elapsed' || kind === 'half-day' || (kind === 'date' && /^[ymdhs]/.test(text))
}

/** `0` in `ss.00`. */
export function isDecimalOfSecond(tokens: readonly FormatToken[], at: number): boolean {
  let before = at
  while (tokens[before]?.kind === 'digit' && tokens[before]?.text === '0') before--
  const unit = tokens[before - 1]
  return (
    before < at &&
    tokens[before]?.kind === 'point' &&
    (unit?.kind === 'date' || unit?.kind === 'elapsed') &&
    unit.text.startsWith('s')
  )
}

function condition(operator: string, limit: number): FormatCondition {
  const tests: Record<string, (value: number) => boolean> = {
    '<': (value) => value < limit,
    '<=': (value) => value <= limit,
    '>': (value) => value > limit,
    '>=': (value) => value >= limit,
    '=': (value) => value === limit,
    '<>': (value) => value !== limit,
  }
  return { operator, limit, holds: tests[operator] ?? (() => true) }
}
