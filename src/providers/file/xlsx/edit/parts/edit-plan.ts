import type { CellChange, Change, ChangeResult, Unfit } from '../../../../../sheets/change.ts'
import type { Cell, Grid } from '../../../../../sheets/rows/grid.ts'
import { MAX_ROWS } from '../../container/limits.ts'
import { type DeletedRow, type RowComingIn, RowShift } from '../formulas/row-shift.ts'
import { whyUnfitForXlsx } from '../xml/cell-xml.ts'

/** What is written to one row of the sheet as it was. */
export interface RowWrite {
  /** The row was past the last one with data. */
  isAdded: boolean
  /** By column, from 0. */
  cells: Map<number, WrittenValue>
  /** What the row held before all changes. */
  formerCells: readonly Cell[]
  /** For an added row: the row with data above it, whose look it takes. */
  modelRow: number
}

export interface WrittenValue {
  value: Cell
  changeAt: number
  /** It is to be a date or a time, and had this style. */
  timeStyle?: string | undefined
}

/** A row between others that were there. */
export interface RowInsertion extends RowComingIn {
  /** Its number after all changes. */
  rowNumber: number
  write: RowWrite
}

/** All changes of a list at once, in the row numbers of the sheet as it was. */
export interface EditPlan {
  shift: RowShift
  writes: Map<number, RowWrite>
  /** From the top down. */
  insertions: RowInsertion[]
  results: ChangeResult[]
  /** The number that each result's row had in the sheet as it was; null for additions. */
  rowsOfResults: (number | null)[]
}

/**
 * Makes the changes to the grid one after the other. A sheet always has all its rows, so additions fill rows that
 * are there and deletions take them away: every change can be told in the numbers from before. Insertions, which come last, are told by
 * the row before which they come in.
 */
export function planChanges(
  { rows }: Grid,
  changes: readonly Change[],
  uncalculatedRows: readonly number[],
): EditPlan | Unfit {
  const deleted = new Map<number, DeletedRow>()
  /** The keys of `deleted`, from the top. */
  const gone: number[] = []
  const writes = new Map<number, RowWrite>()
  const insertions: RowInsertion[] = []
  const results: ChangeResult[] = []
  const rowsOfResults: (number | null)[] = []

  /** How many of those that are gone stood above a row that has this number now: thousands may be deleted at once. */
  const goneAbove = (rowNumber: number): number => {
    let [from, to] = [0, gone.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((gone[middle] ?? 0) - middle > rowNumber) to = middle
      else from = middle + 1
    }
    return from
  }

  const originalNumber = (rowNumber: number): number => rowNumber + goneAbove(rowNumber)

  function writeCells(
    rowNumber: number,
    cells: readonly CellValue[],
    changeAt: number,
    modelRow?: number,
  ): void {
    const original = originalNumber(rowNumber - insertions.length)
    const row = rows[rowNumber - 1] ?? []
    const write: RowWrite = writes.get(original) ?? {
      isAdded: modelRow !== undefined,
      cells: new Map(),
      formerCells: [...row],
      modelRow: modelRow ?? original,
    }
    writes.set(original, write)
    for (const [column, value, timeStyle] of cells) {
      write.cells.set(column, { value, changeAt, timeStyle })
      while (row.length < column) row.push(null)
      row[column] = value
    }
    withoutEmptyEnd(row)
    while (rows.length < rowNumber - 1) rows.push([])
    rows[rowNumber - 1] = row
  }

  /** A formula that was never calculated (openpyxl writes such) reads as empty, but must not be written over. */
  function lastRowInUse(): number {
    const uncalculated = uncalculatedRows.findLast((row) => !deleted.has(row)) ?? 0
    return Math.max(rows.length, uncalculated - gone.filter((row) => row < uncalculated).length)
  }

  function add(given: readonly (readonly Cell[])[], changeAt: number): ChangeResult {
    const above = originalNumber(Math.max(rows.length, 1))
    const modelRow = writes.get(above)?.modelRow ?? above
    const first = lastRowInUse() + 1
    while (rows.length < first - 1) rows.push([])
    for (const cells of given) {
      const values = cells.map((cell, column): CellValue => [column, asRead(cell)])
      const filled = values.filter(([, value]) => value !== null)
      writeCells(rows.length + 1, filled, changeAt, modelRow)
    }
    const result: ChangeResult = {
      kind: 'add',
      rowNumbers: given.map((_, at) => first + at),
      rows: given.map((_, at) => [...(rows[first - 1 + at] ?? [])]),
    }
    withoutBlankEnd(rows)
    return result
  }

  function fill(rowNumber: number, cells: readonly CellValue[], changeAt: number): ChangeResult {
    while (rows.length < rowNumber) rows.push([])
    writeCells(rowNumber, cells, changeAt)
    return { kind: 'insert', row: [...(rows[rowNumber - 1] ?? [])] }
  }

  /** Those before it in the list stand above it. */
  function insert(rowNumber: number, cells: readonly CellValue[], changeAt: number): ChangeResult {
    while (rows.length < rowNumber - 1) rows.push([])
    const gap = originalNumber(rowNumber - insertions.length)
    const row: Cell[] = []
    const written = new Map<number, WrittenValue>()
    for (const [column, value, timeStyle] of cells) {
      if (value === null) continue
      while (row.length < column) row.push(null)
      row[column] = value
      written.set(column, { value, changeAt, timeStyle })
    }
    const modelRow = gap > 2 && !deleted.has(gap - 1) ? gap - 1 : gap
    const write: RowWrite = { isAdded: true, cells: written, formerCells: [], modelRow }
    insertions.push({ gap, changeAt, askedNumber: rowNumber, rowNumber, write })
    rows.splice(rowNumber - 1, 0, row)
    return { kind: 'insert', row: [...row] }
  }

  for (const [changeAt, change] of changes.entries()) {
    if (change.kind === 'insert') {
      const details = whyUnfit(change.cells.map(({ value }) => value))
      if (details !== undefined) return { changeAt, reason: 'value', details }
      if (Math.max(lastRowInUse(), change.rowNumber) + 1 > MAX_ROWS) {
        return { changeAt, reason: 'file', details: `An Excel sheet has room for ${MAX_ROWS} rows.` }
      }
      const cells = change.cells.map(asWritten)
      results.push(
        change.isFilling
          ? fill(change.rowNumber, cells, changeAt)
          : insert(change.rowNumber, cells, changeAt),
      )
      rowsOfResults.push(null)
      withoutBlankEnd(rows)
      continue
    }
    if (change.kind === 'add') {
      const details = whyUnfit(change.rows.flat())
      if (details !== undefined) return { changeAt, reason: 'value', details }
      if (lastRowInUse() + change.rows.length > MAX_ROWS) {
        return { changeAt, reason: 'file', details: `An Excel sheet has room for ${MAX_ROWS} rows.` }
      }
      results.push(add(change.rows, changeAt))
      rowsOfResults.push(null)
      continue
    }
    const { rowNumber } = change
    if (!(rowNumber >= 2 && (rowNumber <= rows.length || rowNumber <= lastRowInUse()))) {
      return { changeAt, reason: 'row', details: `There is no row ${rowNumber}.` }
    }
    rowsOfResults.push(originalNumber(rowNumber))
    if (change.kind === 'delete') {
      const above = goneAbove(rowNumber)
      deleted.set(rowNumber + above, { changeAt, askedNumber: rowNumber })
      gone.splice(above, 0, rowNumber + above)
      results.push({ kind: 'delete', row: rows.splice(rowNumber - 1, 1)[0] ?? [] })
    } else {
      const details = whyUnfit(change.cells.map(({ value }) => value))
      if (details !== undefined) return { changeAt, reason: 'value', details }
      writeCells(rowNumber, change.cells.map(asWritten), changeAt)
      results.push({ kind: 'update', row: [...(rows[rowNumber - 1] ?? [])] })
    }
    withoutBlankEnd(rows)
  }
  for (const row of deleted.keys()) writes.delete(row)
  return { shift: new RowShift(deleted, insertions), writes, insertions, results, rowsOfResults }
}

/** Cells that lose their values beside the changes, in the numbers from before; the answers show the rows without them. */
export function emptyCells(
  { rows }: Grid,
  { shift, results, rowsOfResults }: EditPlan,
  cells: readonly { row: number; column: number }[],
): void {
  if (cells.length === 0) return
  const columnsOf = Map.groupBy(cells, ({ row }) => row)
  const empty = (row: Cell[] | undefined, number: number): void => {
    if (row === undefined) return
    for (const { column } of columnsOf.get(number) ?? []) if (column <= row.length) row[column - 1] = null
    withoutEmptyEnd(row)
  }
  for (const number of columnsOf.keys()) empty(rows[shift.newRow(number) - 1], number)
  withoutBlankEnd(rows)
  for (const [at, result] of results.entries()) {
    if (result.kind === 'update') empty(result.row, rowsOfResults[at] ?? 0)
  }
}

type CellValue = [column: number, value: Cell, timeStyle?: string | undefined]

function asWritten({ columnIndex, value, timeFormat }: CellChange): CellValue {
  return [columnIndex, asRead(value), timeFormat]
}

function whyUnfit(cells: readonly Cell[]): string | undefined {
  for (const cell of cells) {
    const details = whyUnfitForXlsx(cell)
    if (details !== undefined) return details
  }
  return undefined
}

/** An empty text is an empty cell, and there is one zero. */
function asRead(cell: Cell): Cell {
  if (cell === '') return null
  return cell === 0 ? 0 : cell
}

/** Cuts a row as the reader has it: as long as its last value, as the grid ends with the last row that has one. */
function withoutEmptyEnd(row: Cell[]): void {
  while (row.length > 0 && row.at(-1) === null) row.pop()
}

function withoutBlankEnd(rows: Cell[][]): void {
  while (rows.length > 0 && rows.at(-1)?.length === 0) rows.pop()
}
