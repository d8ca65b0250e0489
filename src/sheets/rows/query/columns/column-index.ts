/**
 * All columns as codes, in one buffer, so that a worker hands them over in no time however many there are.
 *
 * A column's non-empty cells fall into classes of those that compare as equal (`Berlin` and `BERLIN`), and classes are
 * numbered in sort order: numbers, texts, false, true. Each row has the code of its cell, so that a filter is a look
 * into a small table and a sort compares integers. There is no dictionary: a class names one row that has such a cell,
 * and the text is read from that row's JSON. So an index costs at most 8 bytes a cell, whatever the cells hold.
 */
export interface ColumnIndexes {
  codes: Uint8Array<ArrayBuffer>
  /** `columnFacts` numbers for each column, as in `factAt`. */
  facts: Uint32Array
}

export const columnFacts = 4
/** Where the column's codes begin, in bytes; how many classes of numbers and of texts; what kinds of cells there are. */
export const factAt = { start: 0, numbers: 1, texts: 2, kinds: 3 } as const

/** Bits of what was seen in a column. */
export const seen = {
  empty: 1,
  integer: 2,
  fraction: 4,
  false: 8,
  true: 16,
  plainText: 32,
  date: 64,
  dateTime: 128,
  time: 256,
  duration: 512,
} as const

export type Codes = Uint8Array | Uint16Array | Uint32Array

/** One column, codes from 0 to `emptyCode`: numbers, then texts, then booleans, then the empty cell. */
export interface IndexedColumn {
  /** By position in the list. */
  codes: Codes
  /** One position that has a cell of this class, by code. */
  positionOfCode: Uint32Array
  textsFrom: number
  booleansFrom: number
  emptyCode: number
  kinds: number
}

/** Rows whose columns are there as codes. */
export interface IndexedRows {
  indexes: ColumnIndexes
  rowNumbers: { readonly length: number }
}

export function indexedColumn({ indexes, rowNumbers }: IndexedRows, column: number): IndexedColumn {
  const { codes, facts } = indexes
  const fact = (at: number) => facts[column * columnFacts + at] ?? 0
  const kinds = fact(factAt.kinds)
  const textsFrom = fact(factAt.numbers)
  const booleansFrom = textsFrom + fact(factAt.texts)
  const emptyCode = booleansFrom + (kinds & seen.false ? 1 : 0) + (kinds & seen.true ? 1 : 0)
  const start = codes.byteOffset + fact(factAt.start)
  const rows = rowNumbers.length
  const size = codeBytes(emptyCode)
  return {
    codes: new arrayOfSize[size](codes.buffer, start, rows),
    positionOfCode: new Uint32Array(codes.buffer, alignBytes(start + rows * size), emptyCode),
    textsFrom,
    booleansFrom,
    emptyCode,
    kinds,
  }
}

export const arrayOfSize = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const

export function codeBytes(highestCode: number): 1 | 2 | 4 {
  if (highestCode <= 0xff) return 1
  return highestCode <= 0xffff ? 2 : 4
}

/** A Uint32Array can only begin at a multiple of four. */
export function alignBytes(bytes: number): number {
  return Math.ceil(bytes / 4) * 4
}
