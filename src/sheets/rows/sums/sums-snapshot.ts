import type { Cell } from '../grid.ts'
import { createRowWriter } from '../row-json.ts'
import type { Snapshot } from '../snapshot.ts'
import type { StaleColumn } from '../stale-results.ts'
import { type Column, columnsOf } from '../table.ts'

const rowsPerStep = 512

/** Figures as the rows of a sheet of their own, so that whatever sends rows can send them. In steps: there may be many. */
export function* sumsSnapshot(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  /** The sheet's outdated results: figures about them are outdated as well. */
  stale: readonly StaleColumn[],
): Generator<void, Snapshot> {
  const toJson = createRowWriter(columns)
  const pieces: Buffer[] = []
  const rowStarts = new Uint32Array(rows.length + 1)
  let end = 1
  for (let from = 0; from < rows.length; from += rowsPerStep) {
    let text = ''
    for (let at = from; at < Math.min(from + rowsPerStep, rows.length); at++) {
      const json = toJson(rows[at] ?? [])
      rowStarts[at] = end
      end += Buffer.byteLength(json) + 1
      text += at === 0 ? json : `,${json}`
    }
    pieces.push(Buffer.from(text))
    yield
  }
  rowStarts[rows.length] = Math.max(end, 2)
  const listJson = Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
  return {
    columns: [...columns],
    listJson,
    rowStarts,
    rowNumbers: Uint32Array.from({ length: rows.length }, (_, at) => at + 2),
    lastRowNumber: rows.length + 1,
    blankRowJson: toJson([]),
    contentHash: '',
    stale: [...stale],
    sizeInBytes: listJson.byteLength,
  }
}

/** A name that comes twice gets a number behind it, as in a sheet. */
export function resultColumns(names: readonly string[]): Column[] {
  return columnsOf({ rows: [[...names]] })
}
