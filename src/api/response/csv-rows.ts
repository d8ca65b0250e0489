import type { SheetAddress } from '../../admission/judge.ts'
import { Chunks, chunkBytes } from '../../sheets/rows/query/chunks.ts'
import { pauseChunk } from '../../sheets/rows/query/list-chunks.ts'
import { cellReader, longTextBytes } from '../../sheets/rows/query/row-cells.ts'
import { rowBytes, type Snapshot } from '../../sheets/rows/snapshot.ts'
import { rowNumberKey } from '../../sheets/rows/table.ts'
import { positionAt, type RowChoice } from '../request/row-choice.ts'

export interface CsvShape {
  /** null: all columns, in the order of the sheet. */
  fields: readonly number[] | null
  rowNumbers: boolean
  /** For people who open it in a spreadsheet program: no text is taken for a formula there. */
  escapeFormulas: boolean
  /** With a byte order mark, by which Excel knows UTF-8. */
  bom: boolean
}

const quote = 0x22
const comma = 0x2c
const semicolon = 0x3b
const bar = 0x7c
const backslash = 0x5c
const carriageReturn = 0x0d
const lineFeed = 0x0a
const smallF = 0x66
const smallN = 0x6e
const smallT = 0x74
const trueField = Buffer.from('TRUE')
const falseField = Buffer.from('FALSE')

/**
 * RFC 4180, with a header. A text is quoted where it could be taken for a number, so that our own rules read it back.
 * Bytes are copied from the JSON text of the rows wherever they are the same there: ten times as fast as by cells.
 */
export function* csvChunks(snapshot: Snapshot, rows: RowChoice, shape: CsvShape): Generator<Uint8Array> {
  const chosen = shape.fields ?? snapshot.columns.map((_, at) => at)
  const reader = cellReader(snapshot)
  const { list } = reader
  const chunks = new Chunks(chunkBytes)
  const header = Buffer.from(headerLine(snapshot, shape))
  chunks.bytes(header, 0, header.length)
  for (let n = 0; n < rows.count; n++) {
    const position = positionAt(rows, n)
    // Where there are pauses within a row, others may look at another one meanwhile.
    const spans = isLongRow(snapshot, position) ? reader.spans(position).slice() : reader.spans(position)
    if (shape.rowNumbers) chunks.ascii(`${snapshot.rowNumbers[position]},`)
    let isBlank = !shape.rowNumbers
    for (let at = 0; at < chosen.length; at++) {
      if (at > 0) chunks.byte(comma)
      const column = chosen[at] ?? 0
      const start = spans[column * 2] ?? 0
      const end = spans[column * 2 + 1] ?? 0
      const isLong = end - start > longTextBytes
      if (isLong) yield* longField(start, end)
      // A row may be made of many cells that are nearly long.
      if (chunks.hasFull) yield* chunks.takeFull()
      const isEmpty = !isLong && writeField(list, start, end)
      isBlank &&= isEmpty && at === 0
    }
    endLine(isBlank)
    if (chunks.hasFull) yield* chunks.takeFull()
    else if (reader.isTimeToPause()) yield pauseChunk
  }
  yield* chunks.takeAll()

  /** Quoted in any case: whether it has to be would be known only at its end. */
  function* longField(start: number, end: number): Generator<Uint8Array> {
    let before = '"'
    for (const piece of reader.pieces(start, end)) {
      if (before !== '' && shape.escapeFormulas && isLikeFormula(piece)) before = `"'`
      const text = Buffer.from(before + piece.replaceAll('"', '""'))
      before = ''
      chunks.bytes(text, 0, text.length)
      yield* chunks.takeFull()
      if (reader.isTimeToPause()) yield pauseChunk
    }
    chunks.byte(quote)
  }

  /** Says whether it is empty. */
  function writeField(json: Uint8Array, start: number, end: number): boolean {
    const first = json[start]
    if (first === smallN || (first === quote && end - start === 2)) return true
    if (first === smallT) chunks.bytes(trueField, 0, trueField.length)
    else if (first === smallF) chunks.bytes(falseField, 0, falseField.length)
    else if (first !== quote) chunks.bytes(json, start, end)
    else writeText(json, start, end)
    return false
  }

  /** Quoted, a text without a backslash in its JSON is the same in both. */
  function writeText(json: Uint8Array, start: number, end: number): void {
    const mayBeFormula = shape.escapeFormulas && mayBeginFormula(json[start + 1] ?? 0)
    const kind = mayBeFormula ? 'unclear' : kindOfText(json, start + 1, end - 1)
    if (kind === 'plain') chunks.bytes(json, start + 1, end - 1)
    else if (kind === 'to quote') chunks.bytes(json, start, end)
    else {
      const text = Buffer.from(textField(String(reader.decode(start, end)), shape))
      chunks.bytes(text, 0, text.length)
    }
  }

  function endLine(isBlank: boolean): void {
    // A lone empty field would be a blank line, which most readers skip.
    if (isBlank) chunks.ascii('""')
    chunks.byte(carriageReturn)
    chunks.byte(lineFeed)
  }
}

function isLongRow(snapshot: Snapshot, position: number): boolean {
  return rowBytes(snapshot, position) > longTextBytes
}

/** A blank row, which has no place in the list, with its header. */
export function csvOfBlankRow(snapshot: Snapshot, rowNumber: number, shape: CsvShape): string {
  const fields = (shape.fields ?? snapshot.columns).map(() => '')
  const line = (shape.rowNumbers ? [String(rowNumber), ...fields] : fields).join(',')
  return `${headerLine(snapshot, shape)}${line === '' ? '""' : line}\r\n`
}

const byteOrderMark = '\ufeff'

function headerLine({ columns }: Snapshot, shape: CsvShape): string {
  const { fields, rowNumbers, bom } = shape
  const chosen = fields ? fields.flatMap((at) => columns[at] ?? []) : columns
  const names = chosen.map(({ key }) => textField(key, shape))
  return `${bom ? byteOrderMark : ''}${(rowNumbers ? [rowNumberKey, ...names] : names).join(',')}\r\n`
}

/** Told by its bytes where that is possible: not for what is escaped in JSON, nor for spaces that are not ASCII. */
function kindOfText(json: Uint8Array, start: number, end: number): 'plain' | 'to quote' | 'unclear' {
  const first = json[start] ?? 0
  const last = json[end - 1] ?? 0
  if (first >= 0x80 || last >= 0x80) return 'unclear'
  let isToQuote = first <= 0x20 || last <= 0x20 || mayBeginNumber(first) || isBoolean(json, start, end)
  for (let at = start; at < end; at++) {
    const byte = json[at]
    if (byte === backslash) return 'unclear'
    if (byte === comma || byte === semicolon || byte === bar) isToQuote = true
  }
  return isToQuote ? 'to quote' : 'plain'
}

function mayBeginNumber(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e
}

function isBoolean(json: Uint8Array, start: number, end: number): boolean {
  const word = end - start === 4 ? 'true' : 'false'
  if (end - start !== word.length) return false
  for (let at = 0; at < word.length; at++)
    if (((json[start + at] ?? 0) | 0x20) !== word.charCodeAt(at)) return false
  return true
}

/** What separates, what looks like a number or a boolean, and spaces at the ends. */
const needsQuotes = /[",;|\t\r\n]|^[-+.\d\s]|\s$|^(?:true|false)$/i

function textField(text: string, { escapeFormulas }: CsvShape): string {
  const shown = escapeFormulas && isLikeFormula(text) ? `'${text}` : text
  return needsQuotes.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}

/**
 * What spreadsheet programs take for the beginning of a formula (OWASP, "CSV Injection"), also behind a tab or a line end,
 * and in the wide letters of East Asian keyboards. Of the texts that begin so, plain numbers are as harmless as they look.
 */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/
const plainNumber = /^[-+]\d[\d.,]*%?$/

function isLikeFormula(text: string): boolean {
  return formulaStart.test(text) && !plainNumber.test(text)
}

/** Tells by the first byte of a cell's JSON: a tab and a line end are escaped there, and a wide letter is not ASCII. */
function mayBeginFormula(byte: number): boolean {
  return byte === 0x3d || byte === 0x2b || byte === 0x2d || byte === 0x40
}

/** What browsers call the file that they make of it. A slug and an id need no quoting. */
export function fileName(address: SheetAddress): string[] {
  const name = address.form === 'a' ? address.sheetSlug : address.sheetId
  return ['Content-Disposition', `attachment; filename="${name}.csv"`]
}
