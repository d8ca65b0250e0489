import { Chunks, chunkBytes } from '../query/chunks.ts'
import { cellReader } from '../query/row-cells.ts'
import { createRowWriter, keyPrefixes } from '../row-json.ts'
import type { Snapshot } from '../snapshot.ts'
import { type Column, columnsOf } from '../table.ts'
import type { TooLong } from './sums-bytes.ts'

/** Writes the JSON text of a cell of a group, which has a place in the page. */
export type WriteCell = (group: number, place: number, into: Chunks) => void

/** What is shown of the groups, in their order. */
export interface SumsPage {
  columns: readonly Column[]
  /** By column. */
  writers: readonly WriteCell[]
  /** The groups. */
  page: Uint32Array
}

const numbersPerStep = 65_536
const piecesPerStep = 16
/** A figure takes as long to write as so many bytes take to be read. */
const bytesPerFigure = 128
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const closeBrace = 0x7d

/**
 * Figures as the rows of a sheet of their own, so that whatever sends rows can send them. In steps: there may be many. Cells of the
 * sheet are copied from its text. Figures about outdated results are outdated as well.
 */
export function* sumsSnapshot(
  sheet: Snapshot,
  { columns, writers, page }: SumsPage,
  maxBytes: number,
): Generator<void, Snapshot | TooLong> {
  const reader = cellReader(sheet)
  const prefixes = keyPrefixes(columns).map((text) => Buffer.from(text))
  const chunks = new Chunks(chunkBytes)
  const rowStarts = new Uint32Array(page.length + 1)
  chunks.byte(openBracket)
  for (let place = 0; place < page.length; place++) {
    if (place > 0) chunks.byte(comma)
    rowStarts[place] = chunks.length
    const group = page[place] as number
    for (let at = 0; at < writers.length; at++) {
      const prefix = prefixes[at] as Buffer
      chunks.bytes(prefix, 0, prefix.length)
      writers[at]?.(group, place, chunks)
    }
    chunks.byte(closeBrace)
    if (chunks.length >= maxBytes) return 'too long'
    reader.note(writers.length * bytesPerFigure)
    if (reader.isTimeToPause()) yield
  }
  chunks.byte(closeBracket)
  rowStarts[page.length] = chunks.length
  const rowNumbers = new Uint32Array(page.length)
  for (let from = 0; from < page.length; from += numbersPerStep) {
    for (let at = from; at < Math.min(from + numbersPerStep, page.length); at++) rowNumbers[at] = at + 2
    yield
  }
  const listJson = yield* joined(chunks.takeAll(), chunks.length)
  return {
    columns: [...columns],
    listJson,
    rowStarts,
    rowNumbers,
    lastRowNumber: page.length + 1,
    blankRowJson: createRowWriter(columns)([]),
    contentHash: '',
    stale: [...sheet.stale],
    sizeInBytes: listJson.byteLength,
  }
}

/** Not `Buffer.concat`, which copies as much as there is in one go. */
function* joined(pieces: readonly Uint8Array[], bytes: number): Generator<void, Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes)
  let end = 0
  for (const [at, piece] of pieces.entries()) {
    whole.set(piece, end)
    end += piece.byteLength
    if (at % piecesPerStep === piecesPerStep - 1) yield
  }
  return whole
}

/** A name that comes twice gets a number behind it, as in a sheet. */
export function resultColumns(names: readonly string[]): Column[] {
  return columnsOf({ rows: [[...names]] })
}
