import { keyPrefixes } from '../row-json.ts'
import { rowBytes, type Snapshot } from '../snapshot.ts'
import { type Column, rowNumberKey } from '../table.ts'
import { Chunks, chunkBytes } from './chunks.ts'
import { cellReader, longTextBytes } from './row-cells.ts'

export interface ChunkShape {
  /** Columns in the order asked for, as indices into `snapshot.columns`; null for all. One named twice comes once. */
  fields: readonly number[] | null
  /** `"_row"` as the first key. */
  rowNumbers: boolean
  /** `[row,row]`, or each row with a line end behind it, or a single row as it is. */
  wrap: 'array' | 'lines' | 'bare'
}

const comma = 0x2c
const newline = 0x0a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Shorter cells of long rows cost more to be sent as pieces than to be copied. */
const copiedUpToBytes = 16 * 1024

/** Nothing is to be sent yet, but much was looked at: whoever makes the body gives others a turn. */
export const pauseChunk = new Uint8Array(0)

/**
 * The JSON text of a list, in pieces of at most 64 KiB that nobody else will change. Nothing is encoded anew: rows, or
 * their cells, are copied from the text that is there, and the whole list as it stands is not even copied.
 */
export function* listChunks(
  snapshot: Snapshot,
  positions: Uint32Array | 'all',
  shape: ChunkShape,
): Generator<Uint8Array> {
  const { fields, rowNumbers, wrap } = shape
  if (positions === 'all' && fields === null && !rowNumbers && wrap === 'array') {
    yield* piecesOf(snapshot.listJson)
    return
  }
  const count = positions === 'all' ? snapshot.rowNumbers.length : positions.length
  const chunks = new Chunks(likelyBytes(snapshot, count))
  const reader = cellReader(snapshot)
  const copyRow = fields
    ? fieldsCopier(snapshot, fields, rowNumbers, chunks)
    : rowCopier(snapshot, rowNumbers, chunks)
  if (wrap === 'array') chunks.byte(openBracket)
  for (let at = 0; at < count; at++) {
    if (at > 0 && wrap === 'array') chunks.byte(comma)
    const position = positions === 'all' ? at : (positions[at] ?? 0)
    if (rowBytes(snapshot, position) > longTextBytes) yield* longRow(snapshot, position, shape, chunks)
    else copyRow(position)
    if (wrap === 'lines') chunks.byte(newline)
    if (chunks.hasFull) yield* chunks.takeFull()
    else if (reader.isTimeToPause()) yield pauseChunk
  }
  if (wrap === 'array') chunks.byte(closeBracket)
  yield* chunks.takeAll()
}

function* piecesOf(list: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < list.length; from += chunkBytes) yield list.subarray(from, from + chunkBytes)
}

/**
 * As others, but none of it is copied that lies in one piece: a copy of megabytes would be in memory until a reader who takes its time
 * has come to the end of it.
 */
function* longRow(
  snapshot: Snapshot,
  position: number,
  { fields, rowNumbers }: ChunkShape,
  chunks: Chunks,
): Generator<Uint8Array> {
  const { columns, rowStarts, listJson } = snapshot
  const number = `{"${rowNumberKey}":${snapshot.rowNumbers[position]}`
  if (fields === null) {
    const start = rowStarts[position] ?? 0
    const end = (rowStarts[position + 1] ?? 0) - 1
    if (rowNumbers) chunks.ascii(columns.length > 0 ? `${number},` : number)
    yield* chunks.takeSoFar()
    yield* piecesOf(listJson.subarray(rowNumbers ? start + 1 : start, end))
    return
  }
  // Another request may look at another row meanwhile.
  const spans = cellReader(snapshot).spans(position).slice()
  const prefixes = fieldPrefixes(snapshot, fields, rowNumbers)
  if (rowNumbers) chunks.ascii(number)
  else if (prefixes.length === 0) chunks.byte(openBrace)
  for (const { field, prefix } of prefixes) {
    chunks.bytes(prefix, 0, prefix.length)
    const start = spans[field * 2] ?? 0
    const end = spans[field * 2 + 1] ?? 0
    if (end - start <= copiedUpToBytes) {
      chunks.bytes(listJson, start, end)
      if (chunks.hasFull) yield* chunks.takeFull()
    } else {
      yield* chunks.takeSoFar()
      yield* piecesOf(listJson.subarray(start, end))
    }
  }
  chunks.byte(closeBrace)
}

/** A page of a few rows should not cost a whole chunk. */
function likelyBytes({ listJson, rowNumbers }: Snapshot, rows: number): number {
  return Math.ceil((listJson.byteLength / Math.max(1, rowNumbers.length) + 32) * rows * 1.25)
}

function rowCopier(
  { columns, rowStarts, rowNumbers, listJson }: Snapshot,
  isNumbered: boolean,
  chunks: Chunks,
): (position: number) => void {
  return (position) => {
    const start = rowStarts[position] ?? 0
    const end = (rowStarts[position + 1] ?? 0) - 1
    if (!isNumbered) return chunks.bytes(listJson, start, end)
    chunks.ascii(`{"${rowNumberKey}":${rowNumbers[position]}`)
    if (columns.length > 0) chunks.byte(comma)
    chunks.bytes(listJson, start + 1, end)
  }
}

function fieldsCopier(
  snapshot: Snapshot,
  fields: readonly number[],
  isNumbered: boolean,
  chunks: Chunks,
): (position: number) => void {
  const { rowNumbers, listJson } = snapshot
  const reader = cellReader(snapshot)
  const prefixes = fieldPrefixes(snapshot, fields, isNumbered)
  return (position) => {
    if (isNumbered) chunks.ascii(`{"${rowNumberKey}":${rowNumbers[position]}`)
    else if (prefixes.length === 0) chunks.byte(openBrace)
    const spans = reader.spans(position)
    for (const { field, prefix } of prefixes) {
      chunks.bytes(prefix, 0, prefix.length)
      chunks.bytes(listJson, spans[field * 2] ?? 0, spans[field * 2 + 1] ?? 0)
    }
    chunks.byte(closeBrace)
  }
}

/** What comes before each cell, each once. */
function fieldPrefixes(
  { columns }: Snapshot,
  fields: readonly number[],
  isNumbered: boolean,
): readonly { field: number; prefix: Buffer }[] {
  const wanted = [...new Set(fields)]
  const texts = keyPrefixes(wanted.map((field) => columnAt(columns, field)))
  const prefixes = wanted.map((field, at) => ({ field, prefix: Buffer.from(texts[at] ?? '') }))
  // Behind a row number, the first key follows a comma instead of the brace.
  if (isNumbered && prefixes[0]) prefixes[0].prefix[0] = comma
  return prefixes
}

function columnAt(columns: readonly Column[], at: number): Column {
  const column = columns[at]
  if (!column) throw new RangeError(`No column ${at}`)
  return column
}
