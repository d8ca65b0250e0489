import type { Change, ChangeResult, Unfit } from '../../../sheets/change.ts'
import { refuseLongSheet } from '../../../sheets/rows/most-rows.ts'
import type { CsvEnd } from './csv-end.ts'
import { type EditedCsv, editCsv } from './edit.ts'

/** What comes behind the last byte of a file, and what is known of it then; null where that is too little. */
export interface AppendedToCsv {
  bytes: Uint8Array
  results: ChangeResult[]
  known: EditedCsv['known'] | null
}

/** It is done on the thread that answers everybody: a millisecond or two. */
const mostCells = 2_000
const mostCharacters = 64 * 1024

/** Whether these are additions alone, and so few that they need no thread. */
export function areFewAdditions(changes: readonly Change[]): boolean {
  let cells = 0
  let characters = 0
  for (const change of changes) {
    if (change.kind !== 'add') return false
    for (const row of change.rows) {
      cells += row.length
      for (const cell of row) if (typeof cell === 'string') characters += cell.length
    }
    if (cells > mostCells || characters > mostCharacters) return false
  }
  return changes.length > 0
}

/**
 * Additions to a file of which only this is known: made, and read back, in one that has its headers and nothing else, by the editor of
 * whole files.
 */
export function appendToCsv(
  { header, newline, records }: CsvEnd,
  changes: readonly Change[],
): AppendedToCsv | Unfit {
  const before = Buffer.from(header + newline)
  const edited = editCsv(before, changes)
  if ('changeAt' in edited) return edited
  const added = records - 1
  const { known } = edited
  if (known) refuseLongSheet(known.end.records + added)
  return {
    bytes: edited.bytes.subarray(before.byteLength),
    results: edited.results.map((result) => withRowsBelow(result, added)),
    known: known ? { ...known, end: { ...known.end, records: known.end.records + added } } : null,
  }
}

function withRowsBelow(result: ChangeResult, by: number): ChangeResult {
  if (result.kind !== 'add') throw new Error('Only additions can be appended')
  return { ...result, rowNumbers: result.rowNumbers.map((rowNumber) => rowNumber + by) }
}
