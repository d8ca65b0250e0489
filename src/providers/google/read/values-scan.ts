/*
 * What can be told of a values answer piece by piece, while it comes, without parsing it. Both loops know texts from what stands
 * around them; they are not one, because they look at every byte of answers of many megabytes.
 */

/** Looks for numbers among the cells, up to the end of the piece that has the first. */
export interface NumberScan {
  scanPiece(piece: Uint8Array): void
  hasNumber(): boolean
  /** Those in which there was one so far. */
  columns(): ReadonlySet<number>
}

/** Counts the rows. */
export interface RowCount {
  countPiece(piece: Uint8Array): void
  rows(): number
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const space = 0x20
/** `"valueRanges":[{…"values":[[…],[…]]}]`: rows are the lists in the list in the list. */
const depthOfRows = 3

/** Bytes behind the first number. Columns whose numbers begin further down are found when both reads are compared. */
const mostScannedBytes = 64 * 1024

/** Handed to a function of the module: what is compiled of one within another is dropped with it, and large answers are scanned once each. */
interface Scanning {
  columns: Set<number>
  isFound: boolean
  isInText: boolean
  isEscaped: boolean
  before: number
  depth: number
  column: number
}

/** A cell stands behind `[` or `,`; the numbers around the cells (`"sheetId":0`) behind a colon. */
export function createNumberScan(): NumberScan {
  const scanning: Scanning = {
    columns: new Set(),
    isFound: false,
    isInText: false,
    isEscaped: false,
    before: 0,
    depth: 0,
    column: 0,
  }
  return {
    scanPiece(piece) {
      if (!scanning.isFound) scanOn(scanning, piece)
    },
    hasNumber: () => scanning.isFound,
    columns: () => scanning.columns,
  }
}

function scanOn(scanning: Scanning, piece: Uint8Array): void {
  const { columns } = scanning
  let { isFound, isInText, isEscaped, before, depth, column } = scanning
  let end = piece.length
  for (let at = 0; at < end; at++) {
    const byte = piece[at] ?? 0
    if (isInText) {
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isInText = false
    } else if (byte > space) {
      const isNumber = byte === minus || (byte >= zero && byte <= nine)
      if (isNumber && (before === openBracket || before === comma)) {
        if (!isFound) end = Math.min(end, at + mostScannedBytes)
        isFound = true
        if (depth === depthOfRows) columns.add(column)
      } else if (byte === comma) column++
      else if (byte === openBracket) {
        depth++
        column = 0
      } else if (byte === closeBracket) {
        depth--
        // What follows the rows of a range is not theirs.
        column = 0
      }
      isInText = byte === quote
      before = byte
    }
  }
  Object.assign(scanning, { isFound, isInText, isEscaped, before, depth, column })
}

export function createRowCount(): RowCount {
  let rows = 0
  let depth = 0
  let isInText = false
  let isEscaped = false

  return {
    countPiece(piece) {
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at]
        if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) isInText = false
        } else if (byte === quote) isInText = true
        else if (byte === closeBracket) depth--
        else if (byte === openBracket) {
          depth++
          if (depth === depthOfRows) rows++
        }
      }
    },
    rows: () => rows,
  }
}
