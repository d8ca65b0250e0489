import { Refusal } from '../../../errors.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { rowsEqualTo } from './find-rows.ts'

/** Ten are named where there should be one. */
const shownRows = 10

/** The number of the one row that has this value in a column, or why there is no such row. */
export function* findNamedRow(
  snapshot: IndexedSnapshot,
  column: number,
  value: string,
): Generator<void, number | Refusal> {
  const positions = yield* rowsEqualTo(snapshot, column, value, shownRows + 1)
  const numbers = positions.map((position) => snapshot.rowNumbers[position] ?? 0)
  return theOnlyRow(numbers, snapshot.columns[column]?.key ?? '')
}

/** The one row that has a value in a column. */
export function theOnlyRow(numbers: readonly number[], column: string): number | Refusal {
  const [only, another] = numbers
  if (only === undefined) {
    return new Refusal('row_not_found', { details: `No row has this value in "${column}".` })
  }
  return another === undefined ? only : ambiguousRow(numbers)
}

export function ambiguousRow(numbers: readonly number[]): Refusal {
  const shown = numbers.slice(0, shownRows).join(', ')
  const more = numbers.length > shownRows ? ' and more' : ''
  return new Refusal('ambiguous_row', { details: `It is in the rows ${shown}${more}.` })
}
