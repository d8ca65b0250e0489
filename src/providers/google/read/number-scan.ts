/** Looks for a number among the cells of a values answer, piece by piece, without parsing it. */
export interface NumberScan {
  scanPiece(piece: Uint8Array): void
  hasNumber(): boolean
}

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const space = 0x20

/** A cell stands behind `[` or `,`; the numbers around the cells (`"sheetId":0`) behind a colon. */
export function createNumberScan(): NumberScan {
  let isFound = false
  let isInText = false
  let isEscaped = false
  let before = 0

  return {
    scanPiece(piece) {
      if (isFound) return
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at] ?? 0
        if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) isInText = false
        } else if (byte > space) {
          const isNumber = byte === minus || (byte >= zero && byte <= nine)
          if (isNumber && (before === openBracket || before === comma)) {
            isFound = true
            return
          }
          isInText = byte === quote
          before = byte
        }
      }
    },
    hasNumber: () => isFound,
  }
}
