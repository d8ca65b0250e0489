import type { CellChange, Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
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
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind === 'add') {
      rows.push(...change.rows)
      if (changes[changeAt + 1]?.kind === 'add') continue
      requests.push(appendRequest(rows, ground))
      rows = []
    } else if (change.kind === 'update') {
      requests.push(...updateRequests(change.rowNumber, change.cells, ground.cellsOf(changeAt), ground.tabId))
    } else {
      lastDeleted ??= change.rowNumber
      if (isRowAbove(changes[changeAt + 1], change.rowNumber)) continue
      const range = { startIndex: change.rowNumber - 1, endIndex: lastDeleted }
      requests.push({ deleteDimension: { range: { sheetId: ground.tabId, dimension: 'ROWS', ...range } } })
      lastDeleted = null
    }
  }
  return requests
}

/** Rows that lie side by side and are deleted from the last to the first go together. */
export function isRowAbove(next: Change | undefined, rowNumber: number): boolean {
  return next?.kind === 'delete' && next.rowNumber === rowNumber - 1
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
        values: trimmed(row).map((cell, at) => {
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
  for (const { columnIndex, value } of cells.toSorted((one, other) => one.columnIndex - other.columnIndex)) {
    const fields = wouldBeDate(value, seen[columnIndex]) ? valueAndFormat : valueOnly
    const last = runs.at(-1)
    if (last && last.from + last.values.length === columnIndex && last.fields === fields) {
      last.values.push(cellData(value))
    } else runs.push({ from: columnIndex, fields, values: [cellData(value)] })
  }
  return runs.map(({ from, fields, values }) => ({
    updateCells: {
      start: { sheetId: tabId, rowIndex: rowNumber - 1, columnIndex: from },
      rows: [{ values }],
      fields,
    },
  }))
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
    if (change.kind === 'add') for (const row of change.rows) width = Math.max(width, trimmed(row).length)
    if (change.kind === 'update') {
      for (const { columnIndex } of change.cells) width = Math.max(width, columnIndex + 1)
    }
  }
  return width
}

function trimmed(row: readonly Cell[]): readonly Cell[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
}
