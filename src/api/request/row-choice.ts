import type { Snapshot } from '../../sheets/rows/snapshot.ts'

/** The rows of an answer, by their positions in the sheet's list: a stretch of it, or some of it in another order. */
export interface RowChoice {
  count: number
  /** Where the stretch begins; of no meaning beside `positions`. */
  from: number
  positions: Uint32Array | null
}

export function stretch({ rowNumbers }: Snapshot, offset: number, limit: number | null): RowChoice {
  const total = rowNumbers.length
  const from = Math.min(offset, total)
  return { from, count: Math.min(limit ?? total, total - from), positions: null }
}

export function positionAt({ from, positions }: RowChoice, n: number): number {
  return positions ? (positions[n] ?? 0) : from + n
}

export function positionsOf({ from, count, positions }: RowChoice): Uint32Array {
  if (positions) return positions
  const stretched = new Uint32Array(count)
  for (let n = 0; n < count; n++) stretched[n] = from + n
  return stretched
}
