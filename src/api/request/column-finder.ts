import type { Refusal } from '../../errors.ts'
import { foldName, shortenName } from '../../sheets/rows/column-name.ts'
import { nearestName } from '../../sheets/rows/nearest-name.ts'
import { type Column, rowNumberKey } from '../../sheets/rows/table.ts'
import { invalid } from './read-wish.ts'

/** A column's position; null when there is none; a refusal when there are several. */
export type Find = (name: string) => number | Refusal | null

const finders = new WeakMap<readonly Column[], Find>()

export function finderOf(columns: readonly Column[]): Find {
  const known = finders.get(columns)
  if (known) return known
  const exact = new Map(columns.map(({ key }, at) => [key, at]))
  const alike = Map.groupBy(columns.keys(), (at) => foldName(columns[at]?.key ?? ''))
  const find: Find = (name) => {
    const at = exact.get(name)
    if (at !== undefined) return at
    const [first, ...others] = alike.get(foldName(name)) ?? []
    if (first === undefined) return null
    if (others.length === 0) return first
    const names = [first, ...others].map((each) => columns[each]?.key ?? '')
    return invalid(
      `"${shortenName(name)}" could be ${listNames(names)}; write it exactly as in the sheet, capitals included.`,
    )
  }
  finders.set(columns, find)
  return find
}

/** The column that an address or a parameter names, as soon as there is a header to look in. */
export function columnNamed(
  name: string,
  parameter: string,
): (columns: readonly Column[]) => number | Refusal {
  return (columns) => finderOf(columns)(name) ?? unknownColumn(name, parameter, columns)
}

/** A name with a comma stands alone in its parameter, so the whole is tried first. */
export function namesIn(text: string, find: Find, whole: (name: string, find: Find) => unknown): string[] {
  if (!text.includes(',') || whole(text, find) !== null) return [text.trim()]
  return text.split(',').map((name) => name.trim())
}

/** For a parameter that names columns. */
export function unknownColumn(name: string, parameter: string, columns: readonly Column[]): Refusal {
  const keys = columns.map(({ key }) => key)
  if (name === '') return invalid(`"${parameter}" lacks a name. The columns are ${listNames(keys)}.`)
  if (name === rowNumberKey)
    return invalid(`"${rowNumberKey}" isn't a column. Use row_numbers=true to include it.`)
  const nearest = nearestName(name.replace(/^-/, ''), keys)
  return invalid(
    `There is no column "${shortenName(name)}" for "${parameter}".${meant(nearest)} The columns are ${listNames(keys)}.`,
  )
}

export function meant(name: string | null): string {
  return name === null ? '' : ` Did you mean "${shortenName(name)}"?`
}

/** Fifty names help; a thousand would not. */
const maxListed = 50

export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map((name) => `"${shortenName(name)}"`)
  return shown.join(', ') + (names.length > shown.length ? ` and ${names.length - shown.length} more` : '')
}
