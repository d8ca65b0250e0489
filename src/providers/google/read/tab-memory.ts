import type { Clock } from '../../../clock.ts'
import type { TabPlace } from '../../../sheets/provider.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import type { RowRange } from './row-ranges.ts'
import type { SeenCell, TabView } from './tab-view.ts'

/** What is known of a tab between two writes: enough to know where the next row will stand. */
export interface TabHead {
  title: string
  rowCount: number
  columnCount: number
  frozenRowCount: number
  /** The last row with data, as far as we know; a person may have added or deleted some since. */
  lastRow: number
  header: readonly SeenCell[]
  /** The cells that the next added row will fill. */
  nextRow: readonly SeenCell[]
  seenAtMs: number
}

export interface TabMemory {
  get(place: TabPlace): TabHead | null
  ageMs(head: TabHead): number
  /** `seenAtMs`: now, unless told. */
  keep(place: TabPlace, view: TabView, lastRow: number, seenAtMs?: number): TabHead
  /** Notes that `rows` rows have gone from above the end. */
  moveUp(place: TabPlace, rows: number): void
  forget(place: TabPlace): void
}

const maxRemembered = 1_000

export function createTabMemory(clock: Clock): TabMemory {
  const heads = new Map<string, TabHead>()
  return {
    get: (place) => heads.get(keyOf(place)) ?? null,
    ageMs: ({ seenAtMs }) => clock.elapsedMs() - seenAtMs,
    keep(
      place,
      { title, rowCount, columnCount, frozenRowCount, row },
      lastRow,
      seenAtMs = clock.elapsedMs(),
    ) {
      const head: TabHead = {
        title,
        rowCount,
        columnCount,
        frozenRowCount,
        lastRow,
        header: row(1),
        // Beyond the last row of the grid, Google makes rows like the one above.
        nextRow: lastRow < rowCount ? row(lastRow + 1) : lastRow > 1 ? row(lastRow) : [],
        seenAtMs,
      }
      const key = keyOf(place)
      heads.delete(key)
      heads.set(key, head)
      const [longestUnused] = heads.keys()
      if (heads.size > maxRemembered && longestUnused !== undefined) heads.delete(longestUnused)
      return head
    },
    moveUp(place, rows) {
      const head = heads.get(keyOf(place))
      if (!head) return
      head.lastRow -= rows
      head.rowCount -= rows
    },
    forget: (place) => void heads.delete(keyOf(place)),
  }
}

function keyOf({ location, credentialId }: TabPlace): string {
  return `${credentialId} ${location}`
}

/** The last row with data of these; null when the end of the data is not among them. */
export function lastFilledIn(view: TabView, { from, to }: RowRange): number | null {
  if (!isFilledRow(view.row(from)) || (to < view.rowCount && isFilledRow(view.row(to)))) return null
  for (let row = Math.min(to, view.rowCount); row > from; row--) if (isFilledRow(view.row(row))) return row
  return from
}

/** A formula that shows nothing is data all the same to `appendCells`. */
export function isFilledRow(cells: readonly SeenCell[]): boolean {
  return cells.some(({ value, isFormula }) => value !== null || isFormula)
}

/** Header cells, without the blank ones at the end. */
export function headerValues(header: readonly SeenCell[]): Cell[] {
  const values = header.map(({ value }) => value)
  return values.slice(0, values.findLastIndex((value) => value !== null) + 1)
}
