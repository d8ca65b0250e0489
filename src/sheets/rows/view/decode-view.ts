import type { Cell, Grid } from '../grid.ts'
import type { StaleColumn } from '../stale-results.ts'
import { rowNumberKey } from '../table.ts'

export interface ViewOptions {
  /** The keys of its columns, in their order. */
  keys: readonly string[]
  /** Outdated results in its columns alone. */
  stale: readonly StaleColumn[]
}

/** In a thread: the lines of a view as the tab that they would be, with every row at its own number. */
export function decodeView(bytes: Uint8Array, options: unknown): Grid {
  const { keys, stale } = options as ViewOptions
  const rows: Cell[][] = [[...keys]]
  const shown = new Set<number>()
  for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split('\n')) {
    if (line === '') continue
    const row = JSON.parse(line) as Record<string, Cell>
    const at = Number(row[rowNumberKey]) - 1
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
