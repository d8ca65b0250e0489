import type { Change, Unfit } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { shortError } from '../read/google-decode.ts'
import { isBeside } from './google-batch.ts'

const maxCellChars = 50_000
const maxDeletedRuns = 1_000
/** Empty ones count. */
const maxCells = 10_000_000

/** The first change that Google will not hold as it is, told before anything is sent. */
export function firstUnfit(changes: readonly Change[]): Unfit | null {
  for (const [changeAt, change] of changes.entries()) {
    const details = change.kind === 'delete' ? null : firstProblem(cellsOf(change))
    if (details !== null) return { changeAt, reason: 'value', details }
    if (change.kind !== 'add' && change.rowNumber < 2) {
      return { changeAt, reason: 'row', details: 'Row 1 has the headers.' }
    }
  }
  return tooManyDeletions(changes)
}

/** Each moves all that lies below, and Google has only so long for a batch. Rows side by side are one. */
function tooManyDeletions(changes: readonly Change[]): Unfit | null {
  let runs = 0
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind !== 'delete' && change.kind !== 'insert') continue
    if (isBeside(changes[changeAt + 1], change)) continue
    if (++runs <= maxDeletedRuns) continue
    const done = change.kind === 'delete' ? 'delete' : 'put back'
    const details = `Google does not ${done} more than ${maxDeletedRuns} rows at once that do not lie side by side; choose fewer at a time, or sort the sheet first`
    return { changeAt, reason: 'file', details }
  }
  return null
}

function* cellsOf(change: Exclude<Change, { kind: 'delete' }>): Iterable<Cell> {
  if (change.kind === 'add') for (const row of change.rows) yield* row
  else for (const { value } of change.cells) yield value
}

function firstProblem(cells: Iterable<Cell>): string | null {
  for (const cell of cells) {
    if (typeof cell !== 'string') continue
    if (cell.length > maxCellChars) return 'Google allows 50,000 characters in one cell.'
    // Reading cuts it down to the error, because Google shows errors in this form.
    if (shortError(cell) !== cell) return `Google cannot tell the text "${cell.slice(0, 80)}" from an error.`
  }
  return null
}

/** Additions that would make the tab larger than a whole spreadsheet may be. */
export function tooManyCells(
  changes: readonly Change[],
  { rowCount, columnCount, lastRow }: { rowCount: number; columnCount: number; lastRow: number },
): Unfit | null {
  let rows = lastRow
  for (const [changeAt, change] of changes.entries()) {
    if (change.kind !== 'add') continue
    rows += change.rows.length
    if (rows > rowCount && rows * columnCount > maxCells) {
      const details =
        'the spreadsheet is full: Google allows ten million cells, empty ones included. Delete rows, columns or tabs that are not used'
      return { changeAt, reason: 'file', details }
    }
  }
  return null
}
