import type { Cell } from '../grid.ts'
import { createRowWriter } from '../row-json.ts'
import type { Snapshot } from '../snapshot.ts'
import type { StaleColumn } from '../stale-results.ts'
import { type Column, columnsOf } from '../table.ts'

const rowsPerStep = 512
const numbersPerStep = 65_536
/** Pieces have some tens of kilobytes each. */
const piecesPerStep = 16

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
  const rowNumbers = new Uint32Array(rows.length)
  for (let from = 0; from < rows.length; from += numbersPerStep) {
    for (let at = from; at < Math.min(from + numbersPerStep, rows.length); at++) rowNumbers[at] = at + 2
    yield
  }
  const listJson = yield* joined(['[', ...pieces, ']'])
  return {
    columns: [...columns],
    listJson,
    rowStarts,
    rowNumbers,
    lastRowNumber: rows.length + 1,
    blankRowJson: toJson([]),
    contentHash: '',
    stale: [...stale],
    sizeInBytes: listJson.byteLength,
  }
}

/** Not `Buffer.concat`, which copies as much as there is in one go. */
function* joined(pieces: readonly (Buffer | string)[]): Generator<void, Buffer> {
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let end = 0
  for (const [at, piece] of pieces.entries()) {
    end += typeof piece === 'string' ? whole.write(piece, end, 'latin1') : piece.copy(whole, end)
    if (at % piecesPerStep === 0) yield
  }
  return whole
}

/** A name that comes twice gets a number behind it, as in a sheet. */
export function resultColumns(names: readonly string[]): Column[] {
  return columnsOf({ rows: [[...names]] })
}
