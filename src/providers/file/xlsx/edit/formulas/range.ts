import { MAX_COLUMNS, MAX_ROWS } from '../../container/limits.ts'
import { columnLetters, parseCellReference } from '../../read/cell-reference.ts'
import type { RowShift } from './row-shift.ts'

/** Rows and columns from 1, both ends included. */
export interface CellRange {
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

const RANGE = /^\$?([A-Za-z]{1,3})?\$?(\d{1,7})?(?::\$?([A-Za-z]{1,3})?\$?(\d{1,7})?)?$/

/** `B2:D9`, `B2`, `B:D` or `2:9`, with or without `$`. */
export function parseRange(text: string): CellRange | undefined {
  const match = RANGE.exec(text)
  if (match === null) return undefined
  const [
    ,
    columnA,
    rowA,
    columnB = text.includes(':') ? undefined : columnA,
    rowB = text.includes(':') ? undefined : rowA,
  ] = match
  if ((columnA === undefined) !== (columnB === undefined) || (rowA === undefined) !== (rowB === undefined)) {
    return undefined
  }
  if (columnA === undefined && rowA === undefined) return undefined
  const columns =
    columnA === undefined ? [1, MAX_COLUMNS] : [columnNumber(columnA), columnNumber(columnB ?? '')]
  const rows = rowA === undefined ? [1, MAX_ROWS] : [Number(rowA), Number(rowB)]
  const range = {
    firstRow: Math.min(...rows),
    lastRow: Math.max(...rows),
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
  }
  const isInSheet =
    range.firstRow >= 1 &&
    range.lastRow <= MAX_ROWS &&
    range.firstColumn >= 1 &&
    range.lastColumn <= MAX_COLUMNS
  return isInSheet ? range : undefined
}

/** The number of a column from 1; 0 when there is no such column. */
export function columnNumber(letters: string): number {
  return (parseCellReference(`${letters}1`) % MAX_COLUMNS) + 1
}

export function writeRange({ firstRow, lastRow, firstColumn, lastColumn }: CellRange): string {
  if (firstRow === 1 && lastRow === MAX_ROWS) {
    return `${columnLetters(firstColumn - 1)}:${columnLetters(lastColumn - 1)}`
  }
  if (firstColumn === 1 && lastColumn === MAX_COLUMNS) return `${firstRow}:${lastRow}`
  const first = `${columnLetters(firstColumn - 1)}${firstRow}`
  const last = `${columnLetters(lastColumn - 1)}${lastRow}`
  return first === last ? first : `${first}:${last}`
}

export function contains(range: CellRange, row: number, column: number): boolean {
  return (
    row >= range.firstRow && row <= range.lastRow && column >= range.firstColumn && column <= range.lastColumn
  )
}

export function isOneCell(range: CellRange): boolean {
  return range.firstRow === range.lastRow && range.firstColumn === range.lastColumn
}

/** What is left of a range; null when all its rows go. */
export function shiftRange(range: CellRange, shift: RowShift): CellRange | null {
  const rows = shift.newRange(range.firstRow, range.lastRow)
  return rows === null ? null : { ...range, firstRow: rows[0], lastRow: rows[1] }
}

/** A list of ranges (`sqref`), without those of which nothing is left. Words that are no range stay. */
export function shiftRangeList(list: string, shift: RowShift): string {
  const words = list.split(/\s+/).filter((word) => word !== '')
  const shifted = words.map((word) => {
    const range = parseRange(word)
    if (range === undefined) return word
    const left = shiftRange(range, shift)
    if (left === null) return ''
    const isSame = left.firstRow === range.firstRow && left.lastRow === range.lastRow
    return isSame ? word : writeRange(left)
  })
  return shifted.filter((word) => word !== '').join(' ')
}
