import type { Snapshot } from '../snapshot.ts'
import { type CellReader, cellReader } from './row-cells.ts'
import { folded } from './text-order.ts'

/** A test of whether any cell of a row contains a text. */
export function createRowSearch(snapshot: Snapshot, search: string): (position: number) => boolean {
  const reader = cellReader(snapshot)
  const needle = folded(search)
  const mayContain = createRowGlance(snapshot, needle)
  return (position) => mayContain(position) && isInCell(reader, position, needle)
}

/**
 * A look at the JSON text of a whole row, several times as fast as finding its cells: where a folded text is not in
 * there, it is in none of them. Keys are in there too, so where it is, the cells still have to be looked at.
 */
export function createRowGlance(snapshot: Snapshot, foldedText: string): (position: number) => boolean {
  if (!isSameInJson(foldedText)) return () => true
  const { list } = cellReader(snapshot)
  const { rowStarts } = snapshot
  const escaped = JSON.stringify(foldedText).slice(1, -1)
  return (position) =>
    folded(list.toString('utf8', rowStarts[position], rowStarts[position + 1])).includes(escaped)
}

/**
 * How a sigma folds depends on what stands before it, and in JSON that may be the n of `\n`. Half a surrogate pair is
 * part of an emoji, but not of its JSON.
 */
function isSameInJson(needle: string): boolean {
  return needle.isWellFormed() && !/[σς]/.test(needle)
}

function isInCell(reader: CellReader, position: number, needle: string): boolean {
  const spans = reader.spans(position)
  for (let at = 0; at < spans.length; at += 2) {
    const cell = reader.decode(spans[at] ?? 0, spans[at + 1] ?? 0)
    if (cell !== null && folded(String(cell)).includes(needle)) return true
  }
  return false
}
