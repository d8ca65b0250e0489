import type {
  FormFieldView,
  FormGuessView,
  FormView,
  FormWishInput,
} from '../../../../src/dashboard/contract.ts'
import type { ShownCaptcha, ShownForm } from '../../../../src/http/form-markup.ts'

/** What is typed: lists and numbers as text, until they are sent. */
export interface FormDraft {
  name: string
  intro: string
  fields: readonly FieldDraft[]
  set: readonly SetDraft[]
  afterwards: 'thanks' | 'next'
  thanks: string
  next: string
  framedBy: string
  origins: string
  honeypot: string
  minSeconds: string
  entriesPerMinute: string
  entriesPerHour: string
  captcha: ShownCaptcha['provider'] | 'none'
  captchaSiteKey: string
  /** Empty: the one of before. */
  captchaSecret: string
}
export type FieldDraft = Omit<FormFieldView, 'choices'> & { choices: string }
export interface SetDraft {
  /** Tells it from others while its column is still open. */
  id: number
  column: string
  value: string
}

export function draftOfGuess(slug: string, { fields, set }: FormGuessView): FormDraft {
  return {
    name: `${slug.charAt(0).toUpperCase()}${slug.slice(1).replaceAll('-', ' ')}`,
    ...{ intro: '', fields: fields.map(fieldDraft), set: set.map(setDraft) },
    ...{ afterwards: 'thanks', thanks: '', next: '', framedBy: '', origins: '', honeypot: '_gotcha' },
    ...{ minSeconds: '0', entriesPerMinute: '10', entriesPerHour: '500' },
    ...{ captcha: 'none', captchaSiteKey: '', captchaSecret: '' },
  }
}

export function draftOfForm({ name, settings }: FormView): FormDraft {
  const { intro, fields, set, thanks, next, framedBy, origins, honeypot } = settings
  return {
    ...{ name, intro, thanks, honeypot },
    fields: fields.map(fieldDraft),
    set: set.map(setDraft),
    afterwards: next === null ? 'thanks' : 'next',
    next: next ?? '',
    framedBy: framedBy.join(', '),
    origins: origins.join(', '),
    minSeconds: String(settings.minSeconds),
    entriesPerMinute: String(settings.entriesPerMinute),
    entriesPerHour: String(settings.entriesPerHour),
    captcha: settings.captcha?.provider ?? 'none',
    captchaSiteKey: settings.captcha?.siteKey ?? '',
    captchaSecret: '',
  }
}

/** A column that the guess left out, or that was taken out. */
export function blankField(column: string, { fields }: FormGuessView): FieldDraft {
  const guessed = fields.find((field) => field.column === column)
  if (guessed) return fieldDraft(guessed)
  return { column, label: column, help: '', kind: 'text', isRequired: false, choices: '' }
}

export function wishOf(draft: FormDraft): FormWishInput {
  const { name, intro, thanks, next, afterwards, honeypot, fields, set } = draft
  return {
    name,
    settings: {
      ...{ intro, thanks, honeypot },
      fields: fields.map((field) => ({ ...field, choices: choicesOf(field) })),
      next: afterwards === 'next' ? next.trim() : null,
      minSeconds: Number(draft.minSeconds),
      set: set
        .filter(({ column }) => column !== '')
        .map(({ column, value }) => [column, cellOf(value)] as const),
      framedBy: listOf(draft.framedBy),
      origins: listOf(draft.origins),
      entriesPerMinute: Number(draft.entriesPerMinute),
      entriesPerHour: Number(draft.entriesPerHour),
      captcha: captchaOf(draft),
    },
  }
}

/** As the page of the form will show it. */
export function shownOf({ name, intro, fields, honeypot, captcha, captchaSiteKey }: FormDraft): ShownForm {
  return {
    ...{ title: name, intro, honeypot },
    captcha: captcha === 'none' ? null : { provider: captcha, siteKey: captchaSiteKey },
    fields: fields.map((field) => ({ ...field, choices: choicesOf(field) })),
  }
}

function captchaOf({
  captcha,
  captchaSiteKey,
  captchaSecret,
}: FormDraft): FormWishInput['settings']['captcha'] {
  if (captcha === 'none') return null
  const secret = captchaSecret.trim()
  return { provider: captcha, siteKey: captchaSiteKey.trim(), ...(secret !== '' && { secret }) }
}

function choicesOf({ kind, choices }: FieldDraft): string[] {
  const lines = choices.split('\n').map((line) => line.trim())
  return kind === 'choice' ? [...new Set(lines.filter((line) => line !== ''))] : []
}

function fieldDraft(field: FormFieldView): FieldDraft {
  return { ...field, choices: field.choices.join('\n') }
}

let lastSetId = 0

export function setDraft([column, value]: readonly [string, string | number | boolean]): SetDraft {
  lastSetId += 1
  return { id: lastSetId, column, value: String(value) }
}

function listOf(text: string): string[] {
  return text
    .split(/[,\s]+/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** `true`, `false` and plain numbers are such; every other value is a text. */
function cellOf(value: string): string | number | boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(value) ? Number(value) : value
}
