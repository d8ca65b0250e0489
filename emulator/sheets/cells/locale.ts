/** The habits of a spreadsheet's locale that show in what is typed and displayed. */
export interface Locale {
  decimal: string
  group: string
  dayFirst: boolean
  currency: string
}

const CONTINENTAL: Record<string, { group: string; currency: string }> = {
  de: { group: '.', currency: '€' },
  es: { group: '.', currency: '€' },
  fr: { group: '\u202f', currency: '€' },
  it: { group: '.', currency: '€' },
  nl: { group: '.', currency: '€' },
  pl: { group: '\u00a0', currency: 'zł' },
  pt: { group: '.', currency: 'R$' },
  ru: { group: '\u00a0', currency: '₽' },
}

const MONTH_FIRST = ['en_US', 'en', 'fil_PH']

export function localeOf(name: unknown): Locale {
  const locale = typeof name === 'string' ? name : 'en_US'
  const continental = CONTINENTAL[locale.slice(0, 2)]
  return {
    decimal: continental ? ',' : '.',
    group: continental?.group ?? ',',
    dayFirst: !MONTH_FIRST.includes(locale),
    currency: continental?.currency ?? (locale === 'en_GB' ? '£' : '$'),
  }
}
