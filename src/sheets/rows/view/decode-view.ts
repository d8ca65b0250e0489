import type { Cell, Grid } from '../grid.ts'
import { rowJson, type Snapshot } from '../snapshot.ts'
import type { StaleColumn } from '../stale-results.ts'

export interface ViewOptions extends Pick<Snapshot, 'rowStarts' | 'rowNumbers'> {
  /** The rows of the view, by their places in the list. */
  positions: Uint32Array | 'all'
  /** The keys of its columns, in their order. */
  keys: readonly string[]
  /** Outdated results in its columns alone. */
  stale: readonly StaleColumn[]
}

/** In a thread: a part of a list as the tab that it would be, with every row at its own number. */
export function decodeView(listJson: Uint8Array, options: unknown): Grid {
  const { rowStarts, rowNumbers, positions, keys, stale } = options as ViewOptions
  const list = { listJson, rowStarts }
  const rows: Cell[][] = [[...keys]]
  const shown = new Set<number>()
  for (const position of positions === 'all' ? rowNumbers.keys() : positions) {
    const row = JSON.parse(rowJson(list, position)) as Record<string, Cell>
    const at = (rowNumbers[position] ?? 0) - 1
    while (rows.length < at) rows.push([])
    shown.add(at)
    rows[at] = keys.map((key) => cellFromDisplayed(row[key] ?? null))
  }
  const staleCells = new Map<number, Set<number>>()
  for (const { key, rowNumbers } of stale) {
    const column = keys.indexOf(key)
    for (const rowNumber of rowNumbers) {
      if (!shown.has(rowNumber - 1)) continue
      const columns = staleCells.get(rowNumber - 1) ?? new Set()
      staleCells.set(rowNumber - 1, columns.add(column))
    }
  }
  return staleCells.size === 0
    ? { rows }
    : { rows, stale: staleCells, uncalculated: new Set(staleCells.keys()) }
}

/** As displayed, an empty cell is an empty text. */
function cellFromDisplayed(cell: Cell): Cell {
  return cell === '' ? null : cell
}
