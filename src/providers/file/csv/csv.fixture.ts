import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { editCsv } from './edit.ts'

/**
 * The file with rows (cells by column position) after its last row with data. Cells must be representable
 * (`isRepresentableInCsv`) and have a column: anything else is a programming error.
 */
export function appendCsvRows(bytes: Uint8Array, rows: readonly (readonly Cell[])[]): Uint8Array {
  if (rows.length === 0) return bytes
  const edited = editCsv(bytes, [{ kind: 'add', rows }])
  if ('bytes' in edited) return edited.bytes
  throw edited.reason === 'value' ? new Error(edited.details) : new ProviderFailure(edited.details)
}
