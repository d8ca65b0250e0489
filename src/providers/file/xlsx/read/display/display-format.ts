import { displayDate } from './date-section.ts'
import { type FormatSection, parseFormatCode } from './format-code.ts'
import { displayGeneral } from './general.ts'
import { displayNumber, roundsToZero } from './number-section.ts'

/** A cell as its number format shows it. */
export interface DisplayFormat {
  number(value: number, uses1904: boolean): string
  /** Whether it shows this number as a date, a time or a duration. */
  showsTime(value: number): boolean
  text(text: string): string
}

/** Excel takes 255 characters at most. */
const MAX_CODE_CHARS = 255

export const generalFormat: DisplayFormat = {
  number: displayGeneral,
  showsTime: () => false,
  text: (text) => text,
}

export function createDisplayFormat(code: string): DisplayFormat {
  if (code === '' || code.length > MAX_CODE_CHARS) return generalFormat
  const sections = parseFormatCode(code)
  // Excel takes no such code and opens a workbook that has one as if the cell had no format.
  if (sections.some(({ mixesDigitsAndDates }) => mixesDigitsAndDates)) return generalFormat
  // The last section is for texts if it has a place for one, or is the fourth.
  const hasTextSection = sections.length === 4 || (sections.length > 1 && takesText(sections.at(-1)))
  const forNumbers = hasTextSection ? sections.slice(0, -1) : sections
  const forText = sections.length === 4 ? sections[3] : sections.findLast(takesText)
  return {
    number(value, uses1904) {
      const { section, showsSign } = chooseSection(forNumbers, value)
      if (section === undefined) return displayGeneral(value)
      if (section.isDate) return displayTime(value, section, showsSign, uses1904) ?? displayGeneral(value)
      const size = Math.abs(value)
      // The minus that the format does not have itself is left out where only zeros would follow it.
      const sign = value < 0 && showsSign && !roundsToZero(size, section.tokens) ? '-' : ''
      return sign + displayNumber(size, section.tokens, section.numerals)
    },
    showsTime: (value) => chooseSection(forNumbers, value).section?.isDate ?? false,
    text: (text) =>
      forText?.tokens
        .map((token) => (token.kind === 'text' || token.kind === 'general' ? text : token.text))
        .join('') ?? text,
  }
}

/** Before day 0 there is a date and a time of day in the 1904 system only, shown as those after it with a minus; hours, minutes and
 * seconds are counted back from it in both. */
function displayTime(
  value: number,
  section: FormatSection,
  showsSign: boolean,
  uses1904: boolean,
): string | undefined {
  const isCounted = section.tokens.some(({ kind }) => kind === 'elapsed')
  if (value >= 0 || !(isCounted || uses1904)) return displayDate(value, section, uses1904)
  const shown = displayDate(-value, section, uses1904)
  return shown === undefined || !showsSign ? shown : `-${shown}`
}

function takesText(section: FormatSection | undefined): boolean {
  return section?.tokens.some(({ kind }) => kind === 'text') ?? false
}

interface Choice {
  section: FormatSection | undefined
  /** A section of their own shows negative numbers as it likes, with a minus or with brackets. */
  showsSign: boolean
}

function chooseSection(sections: readonly FormatSection[], value: number): Choice {
  if (sections.some(({ condition }) => condition !== undefined)) {
    const section = sections.find(({ condition }, at) =>
      condition === undefined ? !isForNegatives(sections, at) || value < 0 : condition.holds(value),
    )
    return { section, showsSign: section === undefined || !takesNegativesOnly(sections, section) }
  }
  const [positive, negative, zero] = sections
  if (value < 0 && negative) return { section: negative, showsSign: false }
  if (value === 0 && zero) return { section: zero, showsSign: false }
  return { section: positive, showsSign: true }
}

/** Behind one condition and before a third section, the second is for negative numbers, as it is without conditions. */
function isForNegatives(sections: readonly FormatSection[], at: number): boolean {
  return at === 1 && sections.length > 2
}

/** By its own condition, or because those before it take all others; zero counts as negative here. */
function takesNegativesOnly(sections: readonly FormatSection[], section: FormatSection): boolean {
  const { operator, limit } = section.condition ?? {}
  if (operator !== undefined && limit !== undefined) return /^<=?$/.test(operator) && limit <= 0
  const at = sections.indexOf(section)
  return (
    isForNegatives(sections, at) ||
    sections
      .slice(0, at)
      .some(({ condition }) => condition && /^>=?$/.test(condition.operator) && condition.limit <= 0)
  )
}
