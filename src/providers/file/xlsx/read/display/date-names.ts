import type { FormatLocale } from './format-locale.ts'

/** The names of a language, as a spreadsheet shows them. */
export interface DateNames {
  months: readonly string[]
  /** Beside the number of a day. */
  monthsOfDays: readonly string[]
  shortMonths: readonly string[]
  /** From Sunday. */
  weekdays: readonly string[]
  shortWeekdays: readonly string[]
  /** What stands for AM and PM. */
  halves: readonly string[]
  /** What `/` stands for between the parts of a date. */
  dateSeparator: string
}

const ENGLISH_MONTHS = splitNames(
  'January February March April May June July August September October November December',
)
const ENGLISH: DateNames = {
  months: ENGLISH_MONTHS,
  monthsOfDays: ENGLISH_MONTHS,
  shortMonths: splitNames('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'),
  weekdays: splitNames('Sunday Monday Tuesday Wednesday Thursday Friday Saturday'),
  shortWeekdays: splitNames('Sun Mon Tue Wed Thu Fri Sat'),
  halves: ['AM', 'PM'],
  dateSeparator: '/',
}

const CHINESE_MONTHS = splitNames('一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月')
const GREEK_MONTHS = splitNames(
  'Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου',
)

/** Where spreadsheets have other names than the CLDR, which the rest comes from (docs/decisions/024). */
const OWN_NAMES: Readonly<Record<string, Partial<DateNames>>> = {
  bg: { shortMonths: splitNames('яну фев мар апр май юни юли авг сеп окт ное дек') },
  cs: { shortMonths: splitNames('I II III IV V VI VII VIII IX X XI XII') },
  da: { shortWeekdays: splitNames('sø ma ti on to fr lø') },
  de: { shortMonths: splitNames('Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez') },
  el: {
    months: GREEK_MONTHS,
    shortMonths: splitNames('Ιαν Φεβ Μαρ Απρ Μαϊ Ιουν Ιουλ Αυγ Σεπ Οκτ Νοε Δεκ'),
    shortWeekdays: splitNames('Κυρ Δευ Τρι Τετ Πεμ Παρ Σαβ'),
    halves: ['πμ', 'μμ'],
  },
  es: { shortMonths: splitNames('ene feb mar abr may jun jul ago sep oct nov dic') },
  fr: {
    shortMonths: splitNames('janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.'),
    shortWeekdays: splitNames('dim. lun. mar. mer. jeu. ven. sam.'),
  },
  he: {
    weekdays: 'יום ראשון;יום שני;יום שלישי;יום רביעי;יום חמישי;יום שישי;שבת'.split(';'),
  },
  hy: {
    shortMonths: splitNames('Հնվ Փտվ Մրտ Ապր Մյս Հնս Հլս Օգս Սպտ Հկտ Նյմ Դկտ'),
    shortWeekdays: splitNames('Կիր Երկ Երք Չրք Հնգ Ուր Շբթ'),
  },
  ko: { shortMonths: splitNames('1 2 3 4 5 6 7 8 9 10 11 12') },
  lt: { shortMonths: splitNames('saus vas kov bal geg birž liep rugp rugs spal lapkr gruod') },
  lv: {
    weekdays: splitNames('svētdiena pirmdiena otrdiena trešdiena ceturtdiena piektdiena sestdiena'),
  },
  mn: { weekdays: splitNames('ням даваа мягмар лхагва пүрэв баасан бямба') },
  nn: { halves: ['a.m.', 'p.m.'] },
  ru: {
    months: splitNames('Январь Февраль Март Апрель Май Июнь Июль Август Сентябрь Октябрь Ноябрь Декабрь'),
    shortMonths: splitNames('янв фев мар апр май июн июл авг сен окт ноя дек'),
    shortWeekdays: splitNames('Вс Пн Вт Ср Чт Пт Сб'),
  },
  sk: { shortMonths: splitNames('1 2 3 4 5 6 7 8 9 10 11 12') },
  sv: {
    shortMonths: splitNames('jan feb mar apr maj jun jul aug sep okt nov dec'),
    shortWeekdays: splitNames('sön mån tis ons tor fre lör'),
  },
  th: {
    weekdays: splitNames('อาทิตย์ จันทร์ อังคาร พุธ พฤหัสบดี ศุกร์ เสาร์'),
    shortWeekdays: splitNames('อา. จ. อ. พ. พฤ. ศ. ส.'),
  },
  uk: {
    shortMonths: splitNames('січ лют бер кві тра чер лип сер вер жов лис гру'),
    weekdays: splitNames("неділя понеділок вівторок середа четвер п'ятниця субота"),
    shortWeekdays: splitNames('Нд Пн Вт Ср Чт Пт Сб'),
  },
  vi: {
    months:
      'Tháng Giêng;Tháng Hai;Tháng Ba;Tháng Tư;Tháng Năm;Tháng Sáu;Tháng Bảy;Tháng Tám;Tháng Chín;Tháng Mười;Tháng Mười Một;Tháng Mười Hai'.split(
        ';',
      ),
    shortMonths: splitNames('Thg1 Thg2 Thg3 Thg4 Thg5 Thg6 Thg7 Thg8 Thg9 Thg10 Thg11 Thg12'),
    shortWeekdays: splitNames('CN T2 T3 T4 T5 T6 T7'),
    halves: ['SA', 'CH'],
  },
  'zh-Hant': { months: CHINESE_MONTHS },
}

/** Months have another case beside a day. Russian, Ukrainian and Belarusian ones only where the code asks for it. */
const INFLECTED = new Set(['cs', 'dsb', 'hr', 'hsb', 'lt', 'pl', 'sk'])
const INFLECTED_ON_DEMAND = new Set(['be', 'ru', 'uk'])

/** Spreadsheets write the separator of dates as `/`, and show that of the language: `[$-407]d/ mmmm` is `3. März`. */
const WITH_POINTS = new Set(
  splitNames(
    'az be bg bs cs de de-AT de-CH dsb et fi hr hsb hu is kk ky lv mk mn nb nn pl ro ru sk sl sr-Cyrl sr-Latn tg tk tr tt uk uz',
  ),
)
const WITH_DASHES = new Set(splitNames('bn da fo fy gu hi kn lt ml mr nl pa sv ta te'))

/** Elsewhere AM and PM stay as they are. */
const HAVE_HALVES = new Set(splitNames('ar cs el es fi hu is ja ko lt nb nn sl sv tr zh zh-Hant'))

const known = new Map<string, DateNames>()

/** The names for a section; English where it names no language, or one that is not known here. */
export function dateNames(locale: FormatLocale | undefined): DateNames {
  const { language, isGenitive = false } = locale ?? {}
  if (language === undefined || language === 'en') return ENGLISH
  const key = `${language} ${isGenitive}`
  const names = known.get(key) ?? createNames(language, isGenitive)
  known.set(key, names)
  return names
}

function createNames(language: string, isGenitive: boolean): DateNames {
  if (Intl.DateTimeFormat.supportedLocalesOf(language).length === 0) return ENGLISH
  const months = monthsBy(language, { month: 'long' })
  const isInflected = INFLECTED.has(language) || (isGenitive && INFLECTED_ON_DEMAND.has(language))
  const names: DateNames = {
    months,
    monthsOfDays: months,
    shortMonths: monthsBy(language, { month: 'short' }).map(withoutDot),
    weekdays: weekdaysBy(language, 'long'),
    shortWeekdays: weekdaysBy(language, 'short').map(withoutDot),
    halves: HAVE_HALVES.has(language) ? halvesBy(language) : ENGLISH.halves,
    dateSeparator: WITH_POINTS.has(language) ? '.' : WITH_DASHES.has(language) ? '-' : '/',
    ...OWN_NAMES[language],
  }
  const monthsOfDays = isInflected ? inflectedMonths(language) : names.months
  return isGenitive ? { ...names, months: monthsOfDays, monthsOfDays } : { ...names, monthsOfDays }
}

function monthsBy(language: string, options: Intl.DateTimeFormatOptions): string[] {
  const format = gregorian(language, options)
  return Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2021, month, 3)))
}

function inflectedMonths(language: string): string[] {
  const format = gregorian(language, { month: 'long', day: 'numeric' })
  return Array.from({ length: 12 }, (_, month) => part(format, Date.UTC(2021, month, 3), 'month'))
}

function weekdaysBy(language: string, weekday: 'long' | 'short'): string[] {
  const format = gregorian(language, { weekday })
  // 1 August 2021 was a Sunday.
  return Array.from({ length: 7 }, (_, day) => format.format(Date.UTC(2021, 7, 1 + day)))
}

function halvesBy(language: string): string[] {
  const format = gregorian(language, { hour: 'numeric', hour12: true })
  return [6, 18].map((hour) => part(format, Date.UTC(2021, 7, 1, hour), 'dayPeriod').replaceAll(/\s/g, ' '))
}

function gregorian(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(`${language}-u-ca-gregory-nu-latn`, { timeZone: 'UTC', ...options })
}

function part(format: Intl.DateTimeFormat, time: number, type: string): string {
  return format.formatToParts(time).find((one) => one.type === type)?.value ?? ''
}

/** The CLDR ends abbreviations with a dot or a geresh; spreadsheets do not. */
function withoutDot(name: string): string {
  return name.replace(/^([^.]+)[.׳]$/, '$1')
}

function splitNames(names: string): string[] {
  return names.split(' ')
}
