import { Refusal } from '../../../../errors.ts'
import type { Change, ChangeResult } from '../../../change.ts'
import { unnamedCellsOf } from '../../../logged-change.ts'
import type { Column } from '../../../rows/table.ts'

/**
 * What people wrote since where no column has a name goes with no row that an undo takes: only the provider sees those cells, when it
 * makes the changes ready. null where there is nothing.
 */
export function* refuseOtherUnnamedCells(
  changes: readonly Change[],
  results: readonly ChangeResult[],
  columns: readonly Column[],
): Generator<void, Refusal | null> {
  for (const [at, change] of changes.entries()) {
    yield
    const result = results[at]
    if (change.kind !== 'delete' || !change.unnamed || result?.kind !== 'delete') continue
    const now = (unnamedCellsOf(result.row, columns)?.cells ?? []).map(([position, value]) => [
      position,
      value,
    ])
    if (JSON.stringify(now) === JSON.stringify(change.unnamed)) continue
    const details = `Row ${change.rowNumber} has other values under columns without a name by now. Nothing was written.`
    return new Refusal('undo_conflict', { details })
  }
  return null
}
