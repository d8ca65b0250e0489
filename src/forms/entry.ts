import { captchaKinds } from '../http/form-markup.ts'
import { isEmailAddress } from '../management/forms/email-address.ts'
import type { FormField, FormSettings } from '../management/forms/forms.ts'
import type { Cell } from '../sheets/rows/grid.ts'

/** What somebody sent: texts by name, as a form has them. */
export type Sent = ReadonlyMap<string, string>

export interface CheckedEntry {
  /** Column and value, of the fields that were filled in. */
  row: (readonly [column: string, value: string | number | boolean])[]
  /** What is wrong, by column; for the form as a whole under ''. */
  mistakes: Map<string, string>
}

const maxCharacters = 10_000
const maxCharactersOfAll = 100_000
/** Unknown fields that are told of; a program may send any number of them. */
const mostUnknown = 5
/** One of them calls its field by a second name too, for pages that had another captcha before. */
const captchaFields = [...Object.values(captchaKinds).map(({ field }) => field), 'g-recaptcha-response']

/** Texts stay texts: only a field that is one for numbers, or a box to tick, makes something else of them. */
export function checkEntry(sent: Sent, { fields, honeypot }: FormSettings): CheckedEntry {
  const checked: CheckedEntry = { row: [], mistakes: new Map() }
  for (const field of fields) {
    const text = (sent.get(field.column) ?? '').trim()
    const outcome = text === '' ? emptyField(field) : valueOfField(field, text)
    if ('mistake' in outcome) checked.mistakes.set(field.column, outcome.mistake)
    else if (outcome.value !== null) checked.row.push([field.column, outcome.value])
  }
  const known = new Set([...fields.map(({ column }) => column), honeypot, ...captchaFields])
  const unknown = [...sent].filter(([name]) => !known.has(name) && !name.startsWith('_'))
  if (unknown.length > 0)
    checked.mistakes.set('', unknown.slice(0, mostUnknown).map(wordsOfUnknown).join('\n'))
  const characters = [...sent.values()].reduce((sum, text) => sum + text.length, 0)
  if (checked.mistakes.size === 0 && characters > maxCharactersOfAll)
    checked.mistakes.set(
      '',
      `At most ${maxCharactersOfAll.toLocaleString('en')} characters in all fields together.`,
    )
  if (checked.mistakes.size === 0 && checked.row.every(([, value]) => value === false))
    checked.mistakes.set('', 'Fill in at least one field.')
  return checked
}

/** It may have been one when the page was opened: what somebody wrote there, they can still read and copy. */
function wordsOfUnknown([name, text]: readonly [string, string]): string {
  const words = `The form has no field “${name.slice(0, 80)}”.`
  return text.trim() === '' ? words : `${words} You wrote there: ${text.trim().slice(0, maxCharacters)}`
}

type Outcome = { mistake: string } | { value: Exclude<Cell, null> | null }

function emptyField({ kind, isRequired }: FormField): Outcome {
  if (kind === 'checkbox') return isRequired ? { mistake: 'Tick this box.' } : { value: false }
  return isRequired ? { mistake: 'Fill in this field.' } : { value: null }
}

function valueOfField({ kind, choices }: FormField, text: string): Outcome {
  if (text.length > maxCharacters)
    return { mistake: `At most ${maxCharacters.toLocaleString('en')} characters.` }
  switch (kind) {
    case 'checkbox':
      if (/^(?:on|true|1|yes)$/i.test(text)) return { value: true }
      return /^(?:off|false|0|no)$/i.test(text)
        ? { value: false }
        : { mistake: 'Tick this box, or leave it.' }
    case 'number': {
      // 1,000 is a thousand to some and one to others.
      if (/^-?\d{1,3}(?:,\d{3})+$/.test(text))
        return { mistake: 'Enter a number without separators, like 1000.5.' }
      const number = text.replace(',', '.')
      const isNumber = /^-?\d{1,15}(?:\.\d{1,15})?$/.test(number)
      return isNumber ? { value: Number(number) } : { mistake: 'Enter a number.' }
    }
    case 'email':
      return isEmailAddress(text) ? { value: text } : { mistake: 'Enter an email address.' }
    case 'date': {
      const isDate = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && isDay(text)
      return isDate ? { value: text } : { mistake: 'Enter a date, like 2026-11-17.' }
    }
    case 'choice':
      return choices.includes(text) ? { value: text } : { mistake: 'Choose one of these.' }
    case 'text':
    case 'long':
      return { value: text }
  }
}

/** 29 February is one in some years only. */
function isDay(text: string): boolean {
  const atMs = Date.parse(text)
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text)
}
