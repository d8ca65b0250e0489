import type { Change } from '../change.ts'
import type { Cell } from '../grid.ts'
import { batchRequests } from './google-batch.ts'
import { joined, type RowRange } from './google-looking.ts'
import { createMarkerRequest, deleteMarkerRequest, type Marker } from './marker.ts'
import type { RowTurns } from './row-turns.ts'
import type { TabHead } from './tab-memory.ts'
import type { TabView } from './tab-view.ts'

export interface BatchParts {
  tabId: number
  changes: readonly Change[]
  turns: RowTurns
  /** Where something is added. */
  head: TabHead | null
  /** The rows that are updated or deleted, and those around them. */
  view: TabView | null
  marker: Marker
  oldMarkers: readonly number[]
}

export interface ComposedBatch {
  body: object
  added: AddedRows | null
}

export interface AddedRows {
  rows: readonly (readonly Cell[])[]
  /** Row numbers after all changes. */
  first: number
  /** The rows that the answer shows. */
  window: RowRange
  /** Too many to be shown: the answer has the first and the last, and what was sent stands for the others. */
  isOnlyEnds: boolean
}

/** How far around a deleted row the answer shows what is there now. */
export const around = 5
/** Beside an updated row one is enough, and none where so many rows speak for each other. */
const maxWithNeighbours = 20
const rowsBefore = 10
const rowsAfter = 50
const maxCellsShown = 50_000

/** The whole batch, and which rows its answer is to show: those of the same moment at which it was applied. */
export function composeBatch(parts: BatchParts): ComposedBatch {
  const { tabId, changes, turns, head, view, marker, oldMarkers } = parts
  const known = view ?? head
  if (!known) throw new Error('A batch needs a look at the tab')
  const added = addedRows(changes, turns, head)
  const requests = [
    ...batchRequests(changes, {
      tabId,
      view: known,
      cellsOf: (changeAt) => view?.row(turns.before(changeAt) ?? 0) ?? [],
      nextRow: head?.nextRow ?? [],
    }),
    createMarkerRequest(marker, 'done'),
    ...oldMarkers.map(deleteMarkerRequest),
  ]
  const lastShown = Math.max(
    known.rowCount - turns.deletions,
    added ? added.first + added.rows.length - 1 : 1,
  )
  const ranges = [{ from: 1, to: 1 }, ...touchedNow(changes, turns), ...shown(added)]
  return {
    body: {
      requests,
      includeSpreadsheetInResponse: true,
      responseIncludeGridData: true,
      responseRanges: joined(ranges.filter(({ from }) => from <= lastShown)).map(
        ({ from, to }) => `${quoted(known.title)}!${from}:${Math.min(to, lastShown)}`,
      ),
    },
    added,
  }
}

/** The rows around each row that a change names, as they are numbered before all changes. */
export function touchedBefore(changes: readonly Change[], turns: RowTurns): RowRange[] {
  return changes.flatMap(({ kind }, changeAt) => {
    const row = turns.before(changeAt)
    const reach = kind === 'delete' ? around : changes.length > maxWithNeighbours ? 0 : 1
    return row === null ? [] : { from: Math.max(1, row - reach), to: row + reach }
  })
}

function touchedNow(changes: readonly Change[], turns: RowTurns): RowRange[] {
  return touchedBefore(changes, turns).map(({ from, to }) => ({
    from: Math.max(1, from - turns.deletions),
    to,
  }))
}

function addedRows(changes: readonly Change[], turns: RowTurns, head: TabHead | null): AddedRows | null {
  const rows = changes.flatMap((change) => (change.kind === 'add' ? change.rows : []))
  if (rows.length === 0 || !head) return null
  const first = head.lastRow - turns.deletions + 1
  const width = Math.max(head.header.length, ...rows.map((row) => row.length))
  return {
    rows,
    first,
    window: { from: Math.max(2, first - rowsBefore), to: first + rows.length - 1 + rowsAfter },
    isOnlyEnds: rows.length > 2 && rows.length * width > maxCellsShown,
  }
}

function shown(added: AddedRows | null): RowRange[] {
  if (!added) return []
  if (!added.isOnlyEnds) return [added.window]
  const last = added.first + added.rows.length - 1
  return [added.first, last].map((row) => ({ from: row, to: row }))
}

function quoted(title: string): string {
  return `'${title.replaceAll("'", "''")}'`
}
