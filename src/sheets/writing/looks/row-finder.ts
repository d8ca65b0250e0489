import type { FoundCell } from '../../provider.ts'
import { rowsEqualToEach } from '../../rows/find/find-rows.ts'
import type { Cell } from '../../rows/grid.ts'
import type { IndexedSnapshot } from '../../rows/snapshot.ts'

/** Rows by what they hold, in the tab that orders are held against. */
export interface RowFinder {
  /**
   * For each of these values, of which no cell equals two: the numbers of the rows whose cell in a column equals it, as the filter
   * `eq` has it, ascending. null where that takes more than was read.
   */
  rowsOfEach(column: number, values: readonly string[]): Generator<void, number[][] | null>
  /**
   * Whether readers may be shown other rows with this value than were found. Whoever is refused because of them reads again, and
   * must not be shown the copy that misled them: the whole tab renews it.
   */
  isShownOtherwise(value: string): boolean
}

export function findingInAll(snapshot: IndexedSnapshot): RowFinder {
  return {
    *rowsOfEach(column, values) {
      const found = yield* rowsEqualToEach(snapshot, column, values)
      return found.map((positions) => positions.map((position) => snapshot.rowNumbers[position] ?? 0))
    },
    isShownOtherwise: () => false,
  }
}

/** What is known where some values were looked for in one column, and the rows were read that have them. */
export interface ColumnLook {
  /** Its position among the columns of the sheet. */
  position: number
  /** By value; of values alone, so what is a date in the sheet is a number here. */
  found: ReadonlyMap<string, readonly FoundCell[]>
  /** The rows that have it in the copy that readers may be shown, by value; null where there is no such copy. */
  shown: ReadonlyMap<string, readonly number[]> | null
  /** The cell of that column as it was read with its row; undefined where that was not. */
  cell(rowNumber: number): Cell | undefined
}

/**
 * A cell that was found must be the same where its row was read: else somebody was at work in between, or it is a date, and the whole
 * tab has to tell.
 */
export function findingInColumn({ position, found, shown, cell: cellOf }: ColumnLook): RowFinder {
  return {
    *rowsOfEach(column, values) {
      if (column !== position || values.some(mayBeTime)) return null
      const numbers: number[][] = []
      for (const value of values) {
        yield
        const cells = found.get(value)
        if (!cells?.every(({ rowNumber, cell }) => cell === cellOf(rowNumber))) return null
        numbers.push(cells.map(({ rowNumber }) => rowNumber))
      }
      return numbers
    },
    isShownOtherwise(value) {
      if (shown === null) return false
      const numbers = found.get(value)?.map(({ rowNumber }) => rowNumber)
      return numbers?.join() !== shown.get(value)?.join()
    },
  }
}

const timeLike = /^\d+[-:]\d/

/** Whether a cell with a date or a time could equal it. */
export function mayBeTime(value: string): boolean {
  return timeLike.test(value.trim())
}
