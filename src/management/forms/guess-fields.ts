import type { FieldKind, FormField, FormSettings } from '../../store/forms/forms.ts'
import { isEmailAddress } from './email-address.ts'

type Cell = string | number | boolean | null

/** What a form of a sheet would have, as far as its columns and some of its cells tell. Owners change what is wrong. */
export type GuessedForm = Pick<FormSettings, 'fields' | 'set'>

export interface SheetCells {
  columns: readonly string[]
  rows: readonly Readonly<Record<string, Cell>>[]
  /** Whose cells Rowport makes itself; null = none. */
  madeColumn: string | null
  /** Without which there is no row, and which people give; null = none. */
  keyColumn?: string | null
}

const mostFields = 50

export function guessForm({ columns, rows, madeColumn, keyColumn = null }: SheetCells): GuessedForm {
  const open = columns.filter((name) => name === keyColumn || (isForPeople(name) && name !== madeColumn))
  const guesses = open.map((column) => {
    const cells = rows.map((row) => (Object.hasOwn(row, column) ? (row[column] ?? null) : null))
    return { column, cells, filled: cells.filter((cell) => cell !== null && cell !== '') }
  })
  const stamped = guesses.filter(({ column, filled }) => isStamp(column, filled))
  const fields = guesses.filter((guess) => !stamped.includes(guess)).slice(0, mostFields)
  return {
    fields: fields.map(({ column, cells, filled }) => {
      const field = fieldOf(column, cells.length, filled)
      return column === keyColumn ? { ...field, isRequired: true } : field
    }),
    set: stamped.map(({ column }) => [column, 'now()'] as const),
  }
}

/** Nobody fills in a number that names a row. */
function isForPeople(column: string): boolean {
  return column !== '' && !column.startsWith('_') && !/^(?:id|uuid)$/i.test(column)
}

/** When something came in is nothing that people should fill in. */
function isStamp(column: string, filled: readonly Cell[]): boolean {
  if (/^(?:created|received|submitted|added|sent|timestamp)(?:[ _-]?(?:at|on|time|date))?$/i.test(column))
    return filled.every((cell) => typeof cell === 'string' && /^\d{4}-\d\d-\d\d/.test(cell))
  return filled.length > 0 && filled.every((cell) => typeof cell === 'string' && dateTime.test(cell))
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

function fieldOf(column: string, rowCount: number, filled: readonly Cell[]): FormField {
  const choices = choicesIn(filled)
  const kind = kindOf(column, filled, choices.length > 0)
  return {
    column,
    label: labelOf(column),
    help: '',
    kind,
    isRequired: kind !== 'checkbox' && rowCount > 0 && filled.length === rowCount,
    choices: kind === 'choice' ? choices : [],
  }
}

function kindOf(column: string, filled: readonly Cell[], hasChoices: boolean): FieldKind {
  if (filled.length === 0) return kindByName(column)
  if (filled.every((cell) => typeof cell === 'boolean')) return 'checkbox'
  if (filled.every((cell) => typeof cell === 'number')) return 'number'
  const texts = filled.filter((cell) => typeof cell === 'string')
  if (texts.length < filled.length) return 'text'
  if (texts.every(isEmailAddress)) return 'email'
  if (texts.every((text) => /^\d{4}-\d\d-\d\d$/.test(text))) return 'date'
  if (hasChoices) return 'choice'
  const isLong = texts.some((text) => text.includes('\n') || text.length > 120)
  return isLong || kindByName(column) === 'long' ? 'long' : 'text'
}

/** A column without a cell is known by its name alone. */
function kindByName(column: string): FieldKind {
  if (/e-?mail/i.test(column)) return 'email'
  if (/message|comment|notes?\b|description|feedback|remarks/i.test(column)) return 'long'
  const words = labelOf(column)
  if (/\b(?:date|day|birthday)\b/i.test(words)) return 'date'
  if (/\b(?:age|count|quantity|qty|amount|guests)\b/i.test(words)) return 'number'
  return 'text'
}

const mostChoices = 12
const longestChoice = 60

/** Few short texts that come again and again, the most frequent first; empty where they are anything else. */
function choicesIn(filled: readonly Cell[]): string[] {
  const counts = new Map<string, number>()
  for (const cell of filled) {
    if (typeof cell !== 'string' || cell.length > longestChoice || cell.includes('\n')) return []
    counts.set(cell, (counts.get(cell) ?? 0) + 1)
    if (counts.size > mostChoices) return []
  }
  const isRepeated = filled.length >= 4 && counts.size >= 2 && counts.size * 2 <= filled.length
  if (!isRepeated) return []
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([text]) => text)
}

/** `first_name` and `firstName` are “First name”; what somebody wrote with spaces is as they wrote it. */
function labelOf(column: string): string {
  if (/\s/.test(column)) return column
  const words = column
    .replace(/_+|(?<=\p{L}{2})-+/gu, ' ')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .trim()
  const label = words.replace(/\b(\p{Lu})(?=\p{Ll})/gu, (letter) => letter.toLowerCase())
  return label === '' ? column : label.charAt(0).toUpperCase() + label.slice(1)
}
