import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { parseJsonBytes } from '../../remote/json-fields.ts'
import { cellsOfTab } from './tab-view.ts'
import { notValues } from './values-body.ts'

export interface GridDecodeOptions {
  tabId: number
}

/** Runs in a worker: a tab with its formats as rows, dates told from numbers. */
export function decodeGoogleGrid(bytes: Uint8Array, options: unknown): Grid {
  const { tabId } = options as GridDecodeOptions
  const cells = cellsOfTab(parseJsonBytes(bytes), tabId)
  if (!cells) throw notValues()
  const rows: Cell[][] = []
  for (const [rowNumber, row] of cells) rows[rowNumber - 1] = row.map(({ value }) => value)
  return { rows: Array.from(rows, (row) => row ?? []) }
}
