import { Refusal } from '../errors.ts'
import type { Cell } from './grid.ts'
import { type Column, rowNumberKey } from './table.ts'

/** Beyond so many columns a suggestion is not worth its time. */
const maxCompared = 500

/** A row as a client sent it: key and value, in the order of the body. */
export type RowInput = readonly (readonly [key: string, value: Cell])[]

/**
 * Body keys → cells by column (CONTRACT 3): a key matches a header exactly, else trimmed and in any case. One that
 * matches none refuses the whole request, and the answer names the header that was probably meant.
 */
export function createCellMapping(
  columns: readonly Column[],
  unknownFields: 'reject' | 'ignore',
): (row: RowInput) => Cell[] | Refusal {
  const exact = new Map(columns.map((column) => [column.key, column]))
  const alike = Map.groupBy(columns, (column) => folded(column.key))

  return (row) => {
    const cells: Cell[] = []
    const given = new Map<Column, string>()
    for (const [key, value] of row) {
      if (key === rowNumberKey) continue
      const matches = exact.has(key) ? [exact.get(key)] : (alike.get(folded(key)) ?? [])
      const column = matches[0]
      if (!column) {
        if (unknownFields === 'ignore') continue
        return refused(`Unknown field "${shortened(key)}". ${suggestion(key, columns)}`)
      }
      if (matches.length > 1)
        return refused(`"${key}" could be several columns; write it exactly as in the sheet.`)
      const earlier = given.get(column)
      if (earlier !== undefined)
        return refused(`"${earlier}" and "${key}" both name the column "${column.key}".`)
      given.set(column, key)
      // An empty text is an empty cell: every spreadsheet would read it back as one.
      cells[column.index] = value === '' ? null : value
    }
    const filled = Array.from(cells, (cell) => cell ?? null)
    if (filled.every((cell) => cell === null))
      return refused('A row needs at least one cell that is not empty.')
    return filled
  }
}

function suggestion(key: string, columns: readonly Column[]): string {
  const distances = columns
    .slice(0, maxCompared)
    .map((column) => ({ key: column.key, distance: editDistance(folded(key), folded(column.key)) }))
  const nearest = distances.sort((one, other) => one.distance - other.distance)[0]
  if (nearest && nearest.distance <= Math.max(1, Math.floor(nearest.key.length / 3))) {
    return `Did you mean "${shortened(nearest.key)}"?`
  }
  const shown = columns.slice(0, 20).map((column) => `"${shortened(column.key)}"`)
  return `The columns are ${shown.join(', ')}${columns.length > shown.length ? ' and more' : ''}.`
}

function refused(details: string): Refusal {
  return new Refusal('invalid_body', { details })
}

function folded(key: string): string {
  return key.trim().toLowerCase()
}

/** Long enough to recognise, short enough that a hostile key cannot fill the answer (or the distance below). */
function shortened(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}…` : key
}

/** Levenshtein, on texts cut to a length that cannot hurt. */
function editDistance(one: string, other: string): number {
  const left = one.slice(0, 80)
  const right = other.slice(0, 80)
  let former = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let at = 1; at <= right.length; at++) {
      const replaced = (former[at - 1] ?? 0) + (left[row - 1] === right[at - 1] ? 0 : 1)
      current.push(Math.min(replaced, (former[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1))
    }
    former = current
  }
  return former[right.length] ?? 0
}
