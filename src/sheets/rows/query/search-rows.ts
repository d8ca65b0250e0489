import { rowBytes, type Snapshot } from '../snapshot.ts'
import { cellReader, longTextBytes, type RowCellReader } from './row-cells.ts'
import { createRowGlance } from './row-glance.ts'
import { createTextNeedle, type TextNeedle } from './text-needle.ts'
import { foldText } from './text-order.ts'

/** Whether something holds; in steps, where that takes reading a long text. */
export type Verdict = boolean | Generator<void, boolean>

/** A test of rows, one after the other. */
export interface RowTest {
  holds(position: number): Verdict
  /** The first row from there on that is not known to fail already. */
  firstOpen(position: number): number
}

/** A test of whether any cell of a row contains a text. */
export function createRowSearch(snapshot: Snapshot, search: string): RowTest {
  const reader = cellReader(snapshot)
  const foldedText = foldText(search)
  const needle = createTextNeedle(foldedText)
  const { mayContain, firstOpen } = createRowGlance(snapshot, foldedText)
  return {
    holds: (position) =>
      rowBytes(snapshot, position) > longTextBytes
        ? isInLongRow(reader, position, needle)
        : mayContain(position) && isInShortRow(reader, position, needle),
    firstOpen,
  }
}

/** A test of whether one cell, which is not empty, contains a text. */
export function createCellSearch(snapshot: Snapshot, column: number, foldedText: string): RowTest {
  const reader = cellReader(snapshot)
  const needle = createTextNeedle(foldedText)
  const { mayContain, firstOpen } = createRowGlance(snapshot, foldedText)
  return {
    holds: (position) =>
      rowBytes(snapshot, position) > longTextBytes
        ? isInSpan(reader, reader.spans(position), column, needle)
        : mayContain(position) && needle.isIn(foldText(String(reader.cell(position, column)))),
    firstOpen,
  }
}

/** A test of whether one cell, which is not empty, ends in a text. */
export function createEndTest(snapshot: Snapshot, column: number, foldedText: string): RowTest {
  const reader = cellReader(snapshot)
  const { mayContain, firstOpen } = createRowGlance(snapshot, foldedText)
  return {
    holds(position) {
      if (rowBytes(snapshot, position) > longTextBytes) return endsLongRow(position)
      return mayContain(position) && foldText(String(reader.cell(position, column))).endsWith(foldedText)
    },
    firstOpen,
  }

  function* endsLongRow(position: number): Generator<void, boolean> {
    const spans = reader.spans(position)
    const [start = 0, end = 0] = spans.subarray(column * 2)
    if (end - start <= longTextBytes) return foldText(String(reader.decode(start, end))).endsWith(foldedText)
    let tail = ''
    for (const piece of reader.pieces(start, end)) {
      const text = tail + foldText(piece)
      tail = foldedText === '' ? '' : text.slice(-foldedText.length)
      yield
    }
    return tail === foldedText
  }
}

function isInShortRow(reader: RowCellReader, position: number, needle: TextNeedle): boolean {
  const spans = reader.spans(position)
  for (let at = 0; at < spans.length; at += 2) {
    const cell = reader.decode(spans[at] ?? 0, spans[at + 1] ?? 0)
    if (cell !== null && needle.isIn(foldText(String(cell)))) return true
  }
  return false
}

function* isInLongRow(reader: RowCellReader, position: number, needle: TextNeedle): Generator<void, boolean> {
  // Another search may look at another row meanwhile.
  const spans = reader.spans(position).slice()
  for (let column = 0; column * 2 < spans.length; column++) {
    if (reader.isTimeToPause()) yield
    if (yield* isInSpan(reader, spans, column, needle)) return true
  }
  return false
}

function* isInSpan(
  reader: RowCellReader,
  spans: Uint32Array,
  column: number,
  needle: TextNeedle,
): Generator<void, boolean> {
  const start = spans[column * 2] ?? 0
  const end = spans[column * 2 + 1] ?? 0
  if (end - start <= longTextBytes) {
    const cell = reader.decode(start, end)
    return cell !== null && needle.isIn(foldText(String(cell)))
  }
  const isFoundWith = needle.search()
  for (const piece of reader.pieces(start, end)) {
    if (isFoundWith(foldText(piece))) return true
    if (reader.isTimeToPause()) yield
  }
  return false
}
