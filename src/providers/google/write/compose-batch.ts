import type { Change } from '../../../sheets/change.ts'
import type { WantedRows } from '../../../sheets/provider.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { joinRanges, type RowRange } from '../read/row-ranges.ts'
import type { TabHead } from '../read/tab-memory.ts'
import type { TabView } from '../read/tab-view.ts'
import { batchRequests } from './google-batch.ts'
import { createMarkerRequest, deleteMarkerRequest, type Marker } from './marker.ts'
import type { RowTurns } from './row-turns.ts'

export interface GoogleBatchParts {
  tabId: number
  changes: readonly Change[]
  turns: RowTurns
  /** Where something is added. */
  head: TabHead | null
  /** The rows that are updated or deleted, and those around them. */
  view: TabView | null
  marker: Marker
  oldMarkers: readonly number[]
  isTabWanted: boolean
}

export interface ComposedBatch {
  body: object
  /** The rows that its answer must show. */
  shown: readonly RowRange[]
  /** The last row of the grid afterwards, if nobody else adds any. */
  lastShown: number
  added: AddedRows | null
}

export interface AddedRows {
  rows: readonly (readonly Cell[])[]
  /** Row numbers after all changes. */
  first: number
  /** The rows that the answer shows of them and around them. */
  window: RowRange
  /** Too many to be shown: the answer has the last and what follows, and what was sent stands for the others. */
  isOnlyEnd: boolean
}

/** How far around a deleted row the answer shows what is there now, unless many are. */
export const around = 5
/** With more updated rows than this, their neighbours are not looked at: so many rows speak for each other. */
const maxWithNeighbours = 20
/** Where so many are wanted, more than a few will be changed together. */
const manyWanted = 2 * maxWithNeighbours
const rowsBefore = 10
const rowsAfter = 50
const maxCellsShown = 50_000

/** The whole batch, and which rows its answer is to show: those of the same moment at which it was applied. */
export function composeBatch(parts: GoogleBatchParts): ComposedBatch {
  const { tabId, changes, turns, head, view, marker, oldMarkers, isTabWanted } = parts
  const known = view ?? head
  if (!known) throw new Error('A batch needs a look at the tab')
  const added = addedRows(changes, turns, head, known.rowCount)
  const requests = [
    ...batchRequests(changes, {
      tabId,
      view: known,
      cellsOf: (changeAt) => view?.row(turns.before(changeAt) ?? modelRow(changeAt, turns)) ?? [],
      nextRow: head?.nextRow ?? [],
    }),
    // Before the new one: there may be room for it only then.
    ...oldMarkers.map(deleteMarkerRequest),
    createMarkerRequest(marker, 'done'),
  ]
  const lastShown = Math.max(lastRowOf(known.rowCount, turns, added), lastInserted(changes))
  const ranges = [{ from: 1, to: 1 }, ...rangesTouchedNow(changes, turns), ...(added ? [added.window] : [])]
  const shown = joinRanges(ranges.filter(({ from }) => from <= lastShown))
  const asked = isTabWanted ? [{ from: 1, to: lastShown }] : shown
  return {
    shown,
    lastShown,
    body: {
      requests,
      includeSpreadsheetInResponse: true,
      responseIncludeGridData: true,
      responseRanges: asked.map(
        ({ from, to }) => `${quoteTitle(known.title)}!${from}:${Math.min(to, lastShown)}`,
      ),
    },
    added,
  }
}

/** The last row of the grid afterwards: a range that begins beyond it would be refused, and the batch with it. */
function lastRowOf(
  rowCount: number,
  turns: RowTurns,
  added: Pick<AddedRows, 'first' | 'rows'> | null,
): number {
  const rows = rowCount - turns.deletions + turns.insertions
  return Math.max(rows, added ? added.first + added.rows.length - 1 : 1)
}

function lastInserted(changes: readonly Change[]): number {
  return changes.reduce((last, change) => (change.kind === 'insert' ? change.rowNumber : last), 1)
}

/** A new row in between looks like the one above it, or the one below where that is the header: Google does the same. */
function modelRow(changeAt: number, turns: RowTurns): number {
  const gap = turns.gapBefore(changeAt)
  return gap > 2 ? gap - 1 : gap
}

/** The rows around those that may be changed, as far as any batch of these needs them. */
export function mayBeTouched(wanted: readonly WantedRows[]): RowRange[] {
  const isMany = wanted.length > manyWanted
  return wanted.map(({ kind, from, to }) => {
    const reach = isMany ? (kind === 'delete' ? 1 : 0) : kind === 'delete' ? around : 1
    return { from: Math.max(1, from - reach), to: to + reach }
  })
}

/** The rows around each row that a change names, as they are numbered before all changes. */
export function rangesTouchedBefore(changes: readonly Change[], turns: RowTurns): RowRange[] {
  // Additions speak for nobody.
  const isAmongMany = changes.filter(({ kind }) => kind !== 'add').length > maxWithNeighbours
  return changes.flatMap(({ kind }, changeAt) => {
    const row = turns.before(changeAt)
    if (kind === 'insert' && row === null) {
      const gap = turns.gapBefore(changeAt)
      return { from: gap - 1, to: gap }
    }
    const reach = kind === 'delete' ? (isAmongMany ? 1 : around) : isAmongMany ? 0 : 1
    return row === null ? [] : { from: Math.max(1, row - reach), to: row + reach }
  })
}

function rangesTouchedNow(changes: readonly Change[], turns: RowTurns): RowRange[] {
  const further = turns.deletions > 0 ? 1 : 0
  return rangesTouchedBefore(changes, turns).map(({ from, to }) => ({
    from: Math.max(1, turns.shifted(from) - further),
    to: turns.shifted(to) + further,
  }))
}

function addedRows(
  changes: readonly Change[],
  turns: RowTurns,
  head: TabHead | null,
  rowCount: number,
): AddedRows | null {
  const rows = changes.flatMap((change) => (change.kind === 'add' ? change.rows : []))
  if (rows.length === 0 || !head) return null
  const first = head.lastRow - turns.deletions + 1
  const last = first + rows.length - 1
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), head.header.length)
  const isOnlyEnd = rows.length > 2 && rows.length * width > maxCellsShown
  const from = isOnlyEnd ? last : Math.max(2, first - rowsBefore)
  const to = Math.min(last + rowsAfter, lastRowOf(rowCount, turns, { first, rows }))
  return { rows, first, window: { from, to }, isOnlyEnd }
}

function quoteTitle(title: string): string {
  return `'${title.replaceAll("'", "''")}'`
}
