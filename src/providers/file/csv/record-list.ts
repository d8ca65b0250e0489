import { refuseLongSheet } from '../../../sheets/rows/most-rows.ts'
import { isEmptyField } from './cell.ts'
import type { CsvDialect } from './dialect.ts'
import { CsvScanner } from './scanner.ts'
import { joinCsvText } from './text.ts'

/** A run of records as they stand in the file, or one that we wrote. */
type Piece = KeptRun | WrittenRecord

interface KeptRun {
  /** Index of its first record in the file. */
  first: number
  count: number
}

interface WrittenRecord {
  raw: string
  lineEnd: string
}

/**
 * The records of a CSV text as a list to edit. What is not touched stays a slice of the text, so a thousand edits to
 * a million rows cost a few thousand pieces. Records are counted from 1, as rows are.
 */
export class CsvRecordList {
  /** Width of the first record that is not a blank line, nearly always the headers; 0 when there is none. */
  readonly columns: number = 0
  /** Number of the last record with data in the text as it came; 0 when there is none. */
  readonly lastWithData: number = 0

  readonly #text: string
  readonly #newline: string
  readonly #endsWithNewline: boolean
  /** Where each record begins, and where its line end does. The first has one more: the end of the text. */
  readonly #starts: number[] = [0]
  readonly #ends: number[] = []
  #pieces: Piece[] = []
  /** Records in all pieces. */
  #count = 0
  /** The piece that was last looked for, and how many records lie before it. What changes lies there or behind it. */
  #found = { at: 0, before: 0 }

  constructor(text: string, { delimiter, newline, endsWithNewline }: CsvDialect) {
    this.#text = text
    this.#newline = newline
    this.#endsWithNewline = endsWithNewline
    const scanner = new CsvScanner(text, delimiter)
    let width = 0
    let hasData = false
    while (scanner.next()) {
      width++
      if (!isEmptyField(scanner)) hasData = true
      if (!scanner.endsRecord) continue
      if (!scanner.isBlankLine) this.columns ||= width
      // Those below the last with data as well: each has its place here.
      refuseLongSheet(scanner.rowNumber)
      this.#ends.push(scanner.end)
      this.#starts.push(scanner.nextStart)
      if (hasData) this.lastWithData = this.#ends.length
      width = 0
      hasData = false
    }
    this.#count = this.#ends.length
    if (this.#count > 0) this.#pieces.push({ first: 0, count: this.#count })
  }

  /** How many records there are now. */
  get count(): number {
    return this.#count
  }

  /** How many records there were in the text as it came. */
  get originalCount(): number {
    return this.#ends.length
  }

  /** One of those, without its line end. */
  original(rowNumber: number): string {
    return this.#text.slice(this.#start(rowNumber - 1), this.#end(rowNumber - 1))
  }

  /** The record as written, without its line end. */
  raw(rowNumber: number): string {
    const { piece, offset } = this.#find(rowNumber)
    if ('raw' in piece) return piece.raw
    const record = piece.first + offset
    return this.#text.slice(this.#start(record), this.#end(record))
  }

  replace(rowNumber: number, raw: string): void {
    const at = this.#isolate(rowNumber)
    const piece = this.#pieces[at]
    if (piece === undefined) return
    const lineEnd =
      'raw' in piece ? piece.lineEnd : this.#text.slice(this.#end(piece.first), this.#start(piece.first + 1))
    this.#pieces[at] = { raw, lineEnd }
  }

  remove(rowNumber: number): void {
    this.#pieces.splice(this.#isolate(rowNumber), 1)
    this.#count--
  }

  /** New records between this one and the next; 0 = before the first. */
  insertAfter(rowNumber: number, raws: readonly string[]): void {
    if (rowNumber === 0) this.#found = { at: 0, before: 0 }
    const at = rowNumber === 0 ? 0 : this.#isolate(rowNumber) + 1
    this.#pieces.splice(at, 0, ...raws.map((raw) => ({ raw, lineEnd: this.#newline })))
    this.#count += raws.length
  }

  /** Every record but the last has a line end; the last has one if the file's last had, or if it is nothing else. */
  toText(): string {
    const out: string[] = []
    this.#pieces.forEach((piece, at) => {
      const isLast = at === this.#pieces.length - 1
      let body: string
      let lineEnd: string
      let isBlank: boolean
      if ('raw' in piece) {
        body = piece.raw
        lineEnd = piece.lineEnd
        isBlank = body === ''
      } else {
        const last = piece.first + piece.count - 1
        body = this.#text.slice(this.#start(piece.first), this.#end(last))
        lineEnd = this.#text.slice(this.#end(last), this.#start(last + 1))
        isBlank = this.#start(last) === this.#end(last)
      }
      // A lone \r before a blank line that ends with \n would merge with it and take a row away.
      if (out.at(-1) === '\r' && (body || lineEnd).startsWith('\n')) out.push('\n')
      out.push(body, isLast && !this.#endsWithNewline && !isBlank ? '' : lineEnd || this.#newline)
    })
    return joinCsvText(out)
  }

  /**
   * From the beginning, the end, or where the last one was found, whichever is nearest: ten thousand changes one after the other
   * would else go through ten thousand pieces each.
   */
  #find(rowNumber: number): { at: number; piece: Piece; offset: number } {
    const record = rowNumber - 1
    if (record < 0 || record >= this.#count) throw new Error(`no record ${rowNumber}`)
    let { at, before } = this.#found
    if (record < Math.abs(record - before)) [at, before] = [0, 0]
    if (this.#count - record < Math.abs(record - before)) [at, before] = [this.#pieces.length, this.#count]
    while (before > record) before -= lengthOf(this.#pieces[--at])
    for (;;) {
      const length = lengthOf(this.#pieces[at])
      if (record < before + length) break
      before += length
      at++
    }
    const piece = this.#pieces[at]
    if (!piece) throw new Error(`no record ${rowNumber}`)
    this.#found = { at, before }
    return { at, piece, offset: record - before }
  }

  /** Makes the record a piece of its own, and tells which. */
  #isolate(rowNumber: number): number {
    const { at, piece, offset } = this.#find(rowNumber)
    if ('raw' in piece) return at
    const { first, count } = piece
    const parts = [
      { first, count: offset },
      { first: first + offset, count: 1 },
      { first: first + offset + 1, count: count - offset - 1 },
    ].filter((part) => part.count > 0)
    this.#pieces.splice(at, 1, ...parts)
    return offset === 0 ? at : at + 1
  }

  #start(record: number): number {
    return this.#starts[record] ?? 0
  }

  #end(record: number): number {
    return this.#ends[record] ?? 0
  }
}

function lengthOf(piece: Piece | undefined): number {
  if (!piece) return 0
  return 'raw' in piece ? 1 : piece.count
}
