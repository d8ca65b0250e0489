import type { Cell } from './rows/grid.ts'

/**
 * One change to the rows of a tab. Row numbers are those that hold when its turn comes: the earlier changes of the
 * same list have been made. Rows 2 to the last row with data exist; row 1 has the headers.
 */
export type Change =
  /** After the last row with data in any column; cells by position in the sheet. */
  | { kind: 'add'; rows: readonly (readonly Cell[])[] }
  /** Only these cells; the others keep what they hold. */
  | { kind: 'update'; rowNumber: number; cells: readonly CellChange[]; before?: RowAsRead; spelling?: string }
  /** The row goes and the rows below move up. `unnamed`: of an undo, all that it may hold under columns without a name. */
  | { kind: 'delete'; rowNumber: number; before?: RowAsRead; unnamed?: readonly (readonly [number, Cell])[] }
  /**
   * A row comes back here, and those from here on move down; past the end, rows in between are blank. `isFilling`: it is there, blank and past
   * the end, and nothing moves. In a list, insertions come after all other changes, from the top down.
   */
  | {
      kind: 'insert'
      rowNumber: number
      cells: readonly CellChange[]
      isFilling?: true
      spelling?: string
    }

/**
 * The row as it was read when the change was judged, by position in the sheet; columns without a header are left out.
 * A provider without conditional writes looks again and compares, as late as it can.
 */
export type RowAsRead = readonly (Cell | undefined)[]

export interface CellChange {
  /** Position in the sheet, from 0. */
  columnIndex: number
  value: Cell
  /** It was a date or a time, and its value is how that is told: it is one again, in this format (`LostWithChange`). */
  timeFormat?: string
}

/** What a change led to, rows as a read right after it would show them. */
export type ChangeResult = RowsOfChange & { stale?: StaleAfterChange; lost?: LostWithChange }

/** What the row held before the change and its values do not tell: it takes this to put them back. */
export interface LostWithChange {
  /** The cells that were dates or times, as far as they were written over, with their format in the words of the place. */
  times?: [position: number, format: string][]
  /** Positions of all cells that were formulas. */
  formulas?: number[]
  /** The whole row as it was written, where we would have spelt it otherwise. A place that has such takes it back with a change. */
  spelling?: string
}

/** Where a place does not calculate formulas by itself. */
export interface StaleAfterChange {
  /** Positions in the row of this result whose formulas have outdated results. */
  columns: number[]
  /** How many results of the whole spreadsheet rest on what was changed. */
  cells: number
}

type RowsOfChange =
  /** `rowNumbers` is empty where they cannot be told for certain. */
  | { kind: 'add'; rowNumbers: number[]; rows: Cell[][] }
  | { kind: 'update'; row: Cell[] }
  /** `row` is what it held. */
  | { kind: 'delete'; row: Cell[] }
  | { kind: 'insert'; row: Cell[] }

export interface Edited {
  bytes: Uint8Array
  /** One for each change, in their order. */
  results: ChangeResult[]
}

/** The change at `changeAt` cannot be made, so none of the list was. */
export interface Unfit {
  changeAt: number
  /**
   * The row is not there; this kind of file cannot hold the value; it can only be read; or something there stands in the way,
   * such as what in the file would break.
   */
  reason: 'row' | 'value' | 'read_only' | 'file'
  /** Words for the client. */
  details: string
  /** With 'file': what can be done about it. */
  advice?: string
}

/** The columns into which these changes put something, by position. */
export function writtenColumns(changes: readonly Change[]): Set<number> {
  const written = new Set<number>()
  for (const change of changes) {
    if (change.kind === 'update' || change.kind === 'insert')
      for (const { columnIndex } of change.cells) written.add(columnIndex)
    if (change.kind === 'add') {
      for (const row of change.rows) {
        for (const [index, cell] of row.entries()) if (cell !== null) written.add(index)
      }
    }
  }
  return written
}
