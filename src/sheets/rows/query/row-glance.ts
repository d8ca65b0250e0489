import type { Snapshot } from '../snapshot.ts'
import { cellReader } from './row-cells.ts'
import { createTextNeedle } from './text-needle.ts'
import { foldText } from './text-order.ts'

/** Text that is looked through in one go: a tenth of a millisecond. */
const mostBytesAhead = 64 * 1024
/** Longer ones are looked for in a way that does not tell where they are. */
const mostUnitsAhead = 24

export interface RowGlance {
  mayContain(position: number): boolean
  /** The first row from there on that was not looked at yet, or has the text: the rows before it need not be asked for at all. */
  firstOpen(position: number): number
}

/**
 * A look at the JSON text of whole rows, many times as fast as finding their cells: where a folded text is not in there, it is
 * in none of them. Keys are in there too, so where it is, the cells still have to be looked at. Whoever asks for row after row
 * is told of many by one look; no row asked for may be longer than `longTextBytes`.
 */
export function createRowGlance(snapshot: Snapshot, foldedText: string): RowGlance {
  const firstOpenOfAny = (position: number) => position
  // Half a surrogate pair is part of an emoji, but not of its JSON.
  if (!foldedText.isWellFormed()) return { mayContain: () => true, firstOpen: firstOpenOfAny }
  const { list, note } = cellReader(snapshot)
  const { rowStarts, rowNumbers } = snapshot
  const escaped = JSON.stringify(foldedText).slice(1, -1)
  const needle = createTextNeedle(escaped)
  if (escaped.length > mostUnitsAhead) return { mayContain: isInRow, firstOpen: firstOpenOfAny }
  const rows = rowNumbers.length

  // In plain ASCII the runtime looks for either case at once, in little more than half the time that folding it first takes.
  const inEitherCase = new RegExp(RegExp.escape(escaped), 'gi')
  const isPlainNeedle = isPlain(escaped, Buffer.byteLength(escaped))

  // Rows from `first` to `end` were looked at together; `text` is that of their bytes from `firstByte` on.
  let first = 0
  let end = 0
  let firstByte = 0
  let text = ''
  let rowsAhead = 1
  /** The first of them, from `foundFrom` on, that has it. */
  let nextFound = 0
  let foundFrom = 0
  /** Whether only a look at the row itself tells: in other text a place is no byte of the list. */
  let isEachAsked = false

  return {
    mayContain(position) {
      if (position < first || position >= end) lookAhead(position)
      if (isEachAsked) return isInRow(position)
      if (position < foundFrom || nextFound < position) find(position)
      return nextFound === position
    },
    firstOpen(position) {
      if (position < first || position >= end || isEachAsked) return position
      if (position < foundFrom || nextFound < position) find(position)
      return nextFound
    },
  }

  function lookAhead(position: number): void {
    rowsAhead = position === end ? rowsAhead * 2 : 1
    first = position
    firstByte = rowStarts[position] ?? 0
    end = position + 1
    const mostRows = Math.min(rows, position + rowsAhead)
    while (end < mostRows && (rowStarts[end + 1] ?? 0) - firstByte <= mostBytesAhead) end++
    const bytes = (rowStarts[end] ?? 0) - firstByte
    note(bytes)
    text = list.toString('utf8', firstByte, firstByte + bytes)
    const isPlainText = isPlain(text, bytes)
    isEachAsked = !isPlainText && foldText(text).includes(escaped)
    foundFrom = position
    nextFound = end
    if (isPlainText && isPlainNeedle) find(position)
  }

  /** In plain text, from the beginning of a row on. */
  function find(from: number): void {
    inEitherCase.lastIndex = (rowStarts[from] ?? 0) - firstByte
    foundFrom = from
    nextFound = end
    if (!inEitherCase.test(text)) return
    const byte = firstByte + inEitherCase.lastIndex - escaped.length
    nextFound = from
    while ((rowStarts[nextFound + 1] ?? 0) <= byte) nextFound++
  }

  function isInRow(position: number): boolean {
    const start = rowStarts[position] ?? 0
    const endByte = rowStarts[position + 1] ?? 0
    note(endByte - start)
    return needle.isIn(foldText(list.toString('utf8', start, endByte)))
  }
}

/** Nothing but ASCII is as long in UTF-8 as it is here. */
function isPlain(text: string, bytes: number): boolean {
  return text.length === bytes
}
