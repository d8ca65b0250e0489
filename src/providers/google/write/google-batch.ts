import type { CellChange, Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { serialOfText } from '../read/dates/serial-text.ts'
import type { SeenCell, TabView } from '../read/tab-view.ts'

/** What the requests of a batch depend on, beside the changes. */
export interface BatchGround {
  tabId: number
  view: Pick<TabView, 'rowCount' | 'columnCount' | 'frozenRowCount'>
  /** The cells of a row that a change updates, as they are. */
  cellsOf(changeAt: number): readonly SeenCell[]
  /** The cells that the next added row will fill, empty as they are. */
  nextRow: readonly SeenCell[]
}

/** Changes as requests of `spreadsheets.batchUpdate`, in their order. Typed values only: nothing is ever parsed. */
export function batchRequests(changes: readonly Change[], ground: BatchGround): object[] {
  const requests: object[] = [...widening(changes, ground), ...spareRow(changes, ground)]
  let rows: (readonly Cell[])[] = []
  let lastDeleted: number | null = null
  let inserted: InsertedRow[] = []
  let rowCount = ground.view.rowCount + spareRow(changes, ground).length
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind === 'add') {
      rows.push(...change.rows)
      if (changes[changeAt + 1]?.kind === 'add') continue
      requests.push(appendRequest(rows, ground))
      rows = []
    } else if (change.kind === 'update') {
      requests.push(...updateRequests(change.rowNumber, change.cells, ground.cellsOf(changeAt), ground.tabId))
    } else if (change.kind === 'insert' && change.isFilling) {
      const length = change.rowNumber - rowCount
      if (length > 0) requests.push({ appendDimension: { sheetId: ground.tabId, dimension: 'ROWS', length } })
      rowCount = Math.max(rowCount, change.rowNumber)
      requests.push(...updateRequests(change.rowNumber, change.cells, ground.cellsOf(changeAt), ground.tabId))
    } else if (change.kind === 'insert') {
      inserted.push({ change, seen: ground.cellsOf(changeAt) })
      if (isBeside(changes[changeAt + 1], change)) continue
      requests.push(...insertRequests(inserted, rowCount, ground.tabId))
      rowCount = Math.max(rowCount + inserted.length, change.rowNumber)
      inserted = []
    } else {
      rowCount--
      lastDeleted ??= change.rowNumber
      if (isBeside(changes[changeAt + 1], change)) continue
      const range = { startIndex: change.rowNumber - 1, endIndex: lastDeleted }
      requests.push({ deleteDimension: { range: { sheetId: ground.tabId, dimension: 'ROWS', ...range } } })
      lastDeleted = null
    }
  }
  return requests
}

/** Rows that lie side by side and are deleted from the last to the first go together; so do those that come back, downwards. */
export function isBeside(
  next: Change | undefined,
  { kind, rowNumber }: { kind: 'delete' | 'insert'; rowNumber: number },
): boolean {
  if (next?.kind !== kind || (next.kind === 'insert' && next.isFilling)) return false
  return next.rowNumber === (kind === 'delete' ? rowNumber - 1 : rowNumber + 1)
}

interface InsertedRow {
  change: Extract<Change, { kind: 'insert' }>
  /** The row that it looks like. */
  seen: readonly SeenCell[]
}

/** Rows side by side. Past the end of the grid there is nothing to be moved, and Google would refuse to. */
function insertRequests(rows: readonly InsertedRow[], rowCount: number, sheetId: number): object[] {
  const startIndex = (rows[0]?.change.rowNumber ?? 2) - 1
  const endIndex = startIndex + rows.length
  const range = { sheetId, dimension: 'ROWS', startIndex, endIndex }
  const room =
    startIndex >= rowCount
      ? { appendDimension: { sheetId, dimension: 'ROWS', length: endIndex - rowCount } }
      : { insertDimension: { range, inheritFromBefore: startIndex > 1 } }
  const written = rows.flatMap(({ change, seen }) =>
    updateRequests(change.rowNumber, change.cells, seen, sheetId),
  )
  return [room, ...written]
}

const valueOnly = 'userEnteredValue'
const valueAndFormat = 'userEnteredValue,userEnteredFormat.numberFormat'

function appendRequest(rows: readonly (readonly Cell[])[], { tabId, nextRow }: BatchGround): object {
  // One mask holds for all cells of the request: if one needs another format, the others state their own anew.
  const needsFormat = rows.some((row) => row.some((cell, at) => wouldBeDate(cell, nextRow[at])))
  return {
    appendCells: {
      sheetId: tabId,
      fields: needsFormat ? valueAndFormat : valueOnly,
      rows: rows.map((row) => ({
        values: trimRow(row).map((cell, at) => {
          const format = nextRow[at]?.numberFormat
          const keepsFormat = needsFormat && format && !wouldBeDate(cell, nextRow[at])
          return {
            ...cellData(cell),
            ...(keepsFormat ? { userEnteredFormat: { numberFormat: format } } : {}),
          }
        }),
      })),
    },
  }
}

/** One request for each run of columns side by side. */
function updateRequests(
  rowNumber: number,
  cells: readonly CellChange[],
  seen: readonly SeenCell[],
  tabId: number,
): object[] {
  const runs: { from: number; fields: string; values: object[] }[] = []
  for (const cell of cells.toSorted((one, other) => one.columnIndex - other.columnIndex)) {
    const { columnIndex } = cell
    const { fields, data } = cellDataOf(cell, seen[columnIndex])
    const last = runs.at(-1)
    if (last && last.from + last.values.length === columnIndex && last.fields === fields) {
      last.values.push(data)
    } else runs.push({ from: columnIndex, fields, values: [data] })
  }
  return runs.map(({ from, fields, values }) => ({
    updateCells: {
      start: { sheetId: tabId, rowIndex: rowNumber - 1, columnIndex: from },
      rows: [{ values }],
      fields,
    },
  }))
}

function cellDataOf(
  { value, timeFormat }: CellChange,
  seen: SeenCell | undefined,
): { fields: string; data: object } {
  const time = timeFormat !== undefined && typeof value === 'string' ? serialOfText(value) : null
  if (!time) return { fields: wouldBeDate(value, seen) ? valueAndFormat : valueOnly, data: cellData(value) }
  const data = cellData(time.serial)
  const numberFormat = timeFormat ? (JSON.parse(timeFormat) as object) : time.format
  return { fields: valueAndFormat, data: { ...data, userEnteredFormat: { numberFormat } } }
}

/** A number under a date's format would be read back as a date: the format has to go. */
function wouldBeDate(cell: Cell, seen: SeenCell | undefined): boolean {
  return typeof cell === 'number' && seen?.isDateFormat === true
}

/** A cell in Google's words. Under a mask that names it, what is left out is cleared. */
function cellData(cell: Cell): object {
  if (typeof cell === 'string') return { userEnteredValue: { stringValue: cell } }
  if (typeof cell === 'number') return { userEnteredValue: { numberValue: cell } }
  return cell === null ? {} : { userEnteredValue: { boolValue: cell } }
}

/** `appendCells` makes rows where they are missing, but no columns. */
function widening(changes: readonly Change[], { tabId, view }: BatchGround): object[] {
  const length = widthOf(changes) - view.columnCount
  return length > 0 ? [{ appendDimension: { sheetId: tabId, dimension: 'COLUMNS', length } }] : []
}

/** Google does not delete the last row that is not frozen, though it may be the only one with data. */
function spareRow(changes: readonly Change[], { tabId, view }: BatchGround): object[] {
  const deletions = changes.filter(({ kind }) => kind === 'delete').length
  const isLast = deletions > 0 && view.rowCount - deletions <= Math.max(1, view.frozenRowCount)
  return isLast ? [{ appendDimension: { sheetId: tabId, dimension: 'ROWS', length: 1 } }] : []
}

function widthOf(changes: readonly Change[]): number {
  let width = 0
  for (const change of changes) {
    if (change.kind === 'add') for (const row of change.rows) width = Math.max(width, trimRow(row).length)
    if (change.kind === 'update' || change.kind === 'insert') {
      for (const { columnIndex } of change.cells) width = Math.max(width, columnIndex + 1)
    }
  }
  return width
}

function trimRow(row: readonly Cell[]): readonly Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
}
