import type { Cell, Grid } from '../../src/sheets/rows/grid.ts'

/** In a file of its own: each thread that decodes loads it, with all that it imports. */
export function decodeCells(bytes: Uint8Array, { values }: { values: string }): Grid {
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as Cell[][]
  const shown = (cell: Cell) => (cell === null || values === 'typed' ? cell : `${cell}`)
  return { rows: rows.map((row) => row.map(shown)) }
}
