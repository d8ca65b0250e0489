import type { Cell } from './grid.ts'
import type { Column } from './table.ts'

/** All that JSON.stringify leaves as it is, and can so stand between quotes. */
const needsNoEscaping = /^[^"\\\p{Cc}\p{Cs}]*$/u

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
  return needsNoEscaping.test(cell) ? `"${cell}"` : JSON.stringify(cell)
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
const comma = 0x2c

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
  let list: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(2).fill('[]')
  let end = 1
  let from = 0
  let batchRows = 1
  while (from < rows.length) {
    const batch = rows.slice(from, from + batchRows)
    const text = writeRows(batch)
    if (text === null) return null
    // `[row,row]` goes over the last bracket, and its own first one becomes the comma between.
    const start = from === 0 ? 0 : end
    const needed = start + text.length * maxBytesPerUnit
    if (needed > list.length) list = growBuffer(list, needed)
    end = start + list.write(text, start, 'utf8') - 1
    if (end + 1 > maxBytes) return null
    if (start > 0) list[start] = comma
    rowStarts[from] = start + 1
    for (let row = from + 1; row < from + batch.length; row++)
      rowStarts[row] = list.indexOf(boundary, rowStarts[row - 1]) + 2
    from += batch.length
    const fittingRows = Math.floor((batchUnits / text.length) * batch.length)
    batchRows = isPlain ? Math.min(Math.max(1, fittingRows), maxBatchRows, batch.length * 2) : 1
  }
  rowStarts[rows.length] = end + 1
  return { listJson: new Uint8Array(list.buffer.transfer(end + 1)), rowStarts }
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

/** By handing over, so that the shorter one is gone at once, and not when somebody collects: they are as long as all rows. */
function growBuffer(text: Buffer<ArrayBuffer>, needed: number): Buffer<ArrayBuffer> {
  return Buffer.from(text.buffer.transfer(Math.max(needed, text.length * 2)))
}
