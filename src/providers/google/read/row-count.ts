/** Counts the rows in a values answer, piece by piece, without parsing it. */
export interface RowCount {
  countPiece(piece: Uint8Array): void
  rows(): number
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
/** `"valueRanges":[{…"values":[[…],[…]]}]`: rows are the lists in the list in the list. */
const depthOfRows = 3

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
