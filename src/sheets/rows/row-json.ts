import type { Cell } from './grid.ts'
import type { Column } from './table.ts'

/** All that JSON.stringify leaves as it is, and can so stand between quotes. */
const needsNoEscaping = /^[^"\\\p{Cc}\p{Cs}]*$/u
/** To look at a longer text takes longer than to escape it. */
const lookedAtUnits = 200

/**
 * Writes rows as JSON text, keys in column order. By hand, because an object would move keys that look like integers
 * to the front and lose a column called `__proto__`.
 */
export function createRowWriter(
  columns: readonly Column[],
  emptyCell: EmptyCell = null,
): (row: readonly Cell[]) => string {
  const prefixes = keyPrefixes(columns)
  return (row) => {
    let text = columns.length === 0 ? '{' : ''
    columns.forEach(({ index }, at) => {
      text += prefixes[at] + cellJson(row[index] ?? emptyCell)
    })
    return `${text}}`
  }
}

/** What an empty cell is shown as: `""` where every cell is shown as text (docs/contract.md#values-as-displayed). */
export type EmptyCell = null | ''

/** What stands before each cell of a row. */
export function keyPrefixes(columns: readonly Column[]): string[] {
  return columns.map(({ key }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(key)}:`)
}

function cellJson(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? 'null' : JSON.stringify(cell)
  return cell.length <= lookedAtUnits && needsNoEscaping.test(cell) ? `"${cell}"` : JSON.stringify(cell)
}

/** `[row,row,…]` as bytes: row i from `rowStarts[i]` to `rowStarts[i + 1] - 1`. */
export interface ListText {
  listJson: Uint8Array<ArrayBuffer>
  rowStarts: Uint32Array<ArrayBuffer>
}

/** Rows are made into text so many at a time, fewer where they are long. */
const maxBatchRows = 64
const batchUnits = 64 * 1024
/** UTF-8 needs at most three bytes for each UTF-16 unit. */
const maxBytesPerUnit = 3
/** Long lists are written in pieces of so much, and put together at the end: a list that grows in one is in memory twice each time. */
const mostPieceBytes = 1024 * 1024
const comma = 0x2c
const closingBracket = 0x5d

/** All rows, as `createRowWriter` writes them; null when they are more than `maxBytes`. */
export function writeList(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  maxBytes: number,
  emptyCell: EmptyCell = null,
): ListText | null {
  const isPlain = hasPlainKeys(columns)
  const writeRows = (isPlain ? createObjectsWriter : createRowsWriter)(columns, emptyCell)
  const boundary = Buffer.from(`},${keyPrefixes(columns)[0]}`)
  const rowStarts = new Uint32Array(rows.length + 1)
  const pieces: Buffer<ArrayBuffer>[] = []
  let piece = Buffer.allocUnsafeSlow(1).fill('[')
  /** How much of the piece is used, and how much of the list is there. */
  let used = rows.length === 0 ? 1 : 0
  let end = used
  let from = 0
  let batchRows = 1
  while (from < rows.length) {
    const batch = rows.slice(from, from + batchRows)
    const text = writeRows(batch)
    if (text === null) return null
    const needed = text.length * maxBytesPerUnit
    if (used + needed > piece.length) {
      pieces.push(piece.subarray(0, used))
      piece = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(end, mostPieceBytes)))
      used = 0
    }
    // `[row,row]` without its last bracket. Behind others, its first one becomes the comma between.
    const written = piece.write(text, used, 'utf8') - 1
    if (end + written + 1 > maxBytes) {
      letGo([...pieces, piece])
      return null
    }
    if (from > 0) piece[used] = comma
    const before = end - used
    rowStarts[from] = end + 1
    for (let row = from + 1; row < from + batch.length; row++)
      rowStarts[row] = before + piece.indexOf(boundary, (rowStarts[row - 1] ?? 0) - before) + 2
    used += written
    end += written
    from += batch.length
    const fittingRows = Math.floor((batchUnits / text.length) * batch.length)
    batchRows = isPlain ? Math.min(Math.max(1, fittingRows), maxBatchRows, batch.length * 2) : 1
  }
  rowStarts[rows.length] = end + 1
  return { listJson: joinList([...pieces, piece.subarray(0, used)], end), rowStarts }
}

/** Each piece is gone when it has its place, so that all of them and the list are never in memory together. */
function joinList(pieces: readonly Buffer<ArrayBuffer>[], bytes: number): Uint8Array<ArrayBuffer> {
  const list = new Uint8Array(bytes + 1)
  let at = 0
  for (const piece of pieces) {
    list.set(piece, at)
    at += piece.length
    letGo([piece])
  }
  list[bytes] = closingBracket
  return list
}

/** At once, and not when somebody collects. */
function letGo(pieces: readonly Buffer<ArrayBuffer>[]): void {
  for (const { buffer } of pieces) buffer.transfer(0)
}

type RowsWriter = (rows: readonly (readonly Cell[])[]) => string | null

/**
 * Keys that an object keeps in order and as they are. They begin with a letter, so that `},{"key":` can only be where
 * a row ends: within a text a quote is escaped, and behind one stands a comma or a brace.
 */
function hasPlainKeys(columns: readonly Column[]): boolean {
  return columns.length > 0 && columns.every(({ key }) => /^\p{L}/u.test(key))
}

function createRowsWriter(columns: readonly Column[], emptyCell: EmptyCell): RowsWriter {
  const writeRow = createRowWriter(columns, emptyCell)
  return (rows) => `[${rows.map(writeRow).join(',')}]`
}

/** The runtime writes many objects at once in half the time that single cells take. Always the same ones are filled. */
function createObjectsWriter(columns: readonly Column[], emptyCell: EmptyCell): RowsWriter {
  const blank = Object.fromEntries(columns.map(({ key }) => [key, null]))
  const objects: Record<string, Cell>[] = []
  return (rows) => {
    while (objects.length < rows.length) objects.push({ ...blank })
    objects.length = rows.length
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? []
      const object = objects[at] ?? {}
      for (const { key, index } of columns) object[key] = row[index] ?? emptyCell
    }
    try {
      return JSON.stringify(objects)
    } catch (error) {
      // Longer than a text can be.
      if (error instanceof RangeError) return null
      throw error
    }
  }
}
