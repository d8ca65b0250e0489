/** Whose language a section speaks, as the brackets of its code say: `[$-407]`, `[$-de-DE]`, `[$€-40C]`. */
export interface FormatLocale {
  /** A key of the tables of names; absent where nothing is known of the language, or its calendar is not ours. */
  language: string | undefined
  /** `[$-FC19]`: months as they stand beside a day (января, not Январь). */
  isGenitive: boolean
  isBuddhist: boolean
}

/** By the lower ten bits of Windows' numbers for languages (MS-LCID), from 1. A dash is one whose months are not Gregorian. */
const LANGUAGES =
  'ar bg ca zh cs da de el en es fi fr he hu is it ja ko nl nb pl pt rm ro ru hr sk sq sv th tr ur id uk be sl et lv lt tg - vi hy az eu hsb mk st ts tn ve xh zu af ka fo hi mt se ga yi ms kk ky sw tk uz tt bn pa gu or ta te kn ml as mr sa mn bo cy km lo my gl kok mni sd syr si chr iu am tzm ks ne fy - fil'.split(
    ' ',
  )

/** Numbers whose language or script is not that of their lower bits. */
const OTHERS: ReadonlyMap<number, string> = new Map([
  [0x404, 'zh-Hant'],
  [0xc04, 'zh-Hant'],
  [0x1404, 'zh-Hant'],
  [0x807, 'de-CH'],
  [0xc07, 'de-AT'],
  [0x814, 'nn'],
  [0x81a, 'sr-Latn'],
  [0xc1a, 'sr-Cyrl'],
  [0x141a, 'bs'],
  [0x181a, 'sr-Latn'],
  [0x1c1a, 'sr-Cyrl'],
  [0x201a, 'bs-Cyrl'],
  [0x241a, 'sr-Latn'],
  [0x281a, 'sr-Cyrl'],
  [0x2c1a, 'sr-Latn'],
  [0x301a, 'sr-Cyrl'],
  [0x82c, 'az-Cyrl'],
  [0x82e, 'dsb'],
  [0x843, 'uz-Cyrl'],
])

/** Languages in newer codes, by what a tag begins with; the first that fits. */
const TAGS: readonly (readonly [beginning: string, language: string])[] = [
  ['zh-tw', 'zh-Hant'],
  ['zh-hk', 'zh-Hant'],
  ['zh-mo', 'zh-Hant'],
  ['sr', 'sr-Latn'],
]

/** Sublanguage of all ones: Excel's mark for months beside a day. */
const GENITIVE = 0xfc00
const GREGORIAN_CALENDARS: readonly number[] = [0, 1, 2]
const BUDDHIST_CALENDAR = 7

/** Reads what stands behind the dash: a number in hexadecimal, or the tag of a language. */
export function readFormatLocale(written: string): FormatLocale | undefined {
  if (/^[0-9a-f]{1,8}$/i.test(written)) return byNumber(Number.parseInt(written, 16))
  const {
    tag,
    genitive,
    calendar = '0',
  } = /^(?<tag>[a-z]{2,3}(?:-[a-z0-9]{2,4}){0,2})(?<genitive>-x-genlower)?(?:,(?<calendar>[0-9a-f]{1,4}))?$/i.exec(
    written,
  )?.groups ?? {}
  if (tag === undefined) return undefined
  return inCalendar(byTag(tag.toLowerCase()), genitive !== undefined, Number.parseInt(calendar, 16) & 0xff)
}

function byNumber(written: number): FormatLocale {
  const number = written & 0xffff
  const isGenitive = number >= GENITIVE
  const language = OTHERS.get(number) ?? LANGUAGES[(number & 0x3ff) - 1]
  return inCalendar(language, isGenitive, (written >>> 16) & 0xff)
}

function byTag(tag: string): string | undefined {
  const others = [...OTHERS.values()].filter((language) => language.includes('-'))
  return (
    others.find((language) => tag.startsWith(language.toLowerCase())) ??
    TAGS.find(([beginning]) => tag.startsWith(beginning))?.[1] ??
    [...LANGUAGES, ...OTHERS.values()].find((language) => language === tag.split('-')[0])
  )
}

function inCalendar(language: string | undefined, isGenitive: boolean, calendar: number): FormatLocale {
  const isBuddhist = calendar === BUDDHIST_CALENDAR
  const isKnown = isBuddhist || GREGORIAN_CALENDARS.includes(calendar)
  return { language: isKnown && language !== '-' ? language : undefined, isGenitive, isBuddhist }
}
