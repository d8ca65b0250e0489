import { createHash } from 'node:crypto'
import { type Columns, columnsOf } from './read/column-ranges.ts'
import { createNumberScan } from './read/values-scan.ts'

/** What must be known of a body before anyone parses it, found out a piece at a time while it comes. */
export interface BodyInspection {
  inspectPiece(piece: Uint8Array): void
  /** `numberColumns`: where the first numbers are, or all. */
  found(): { hash: string; hasNumber: boolean; numberColumns: Columns }
}

const hashChars = 22

/** `onNumber`: called at most once, as soon as there is one, with the columns that have some as far as that is known. */
export function createInspection(onNumber?: (columns: Columns) => void): BodyInspection {
  const hash = createHash('sha256')
  const scan = createNumberScan()
  return {
    inspectPiece(piece) {
      hash.update(piece)
      if (scan.hasNumber()) return
      scan.scanPiece(piece)
      if (scan.hasNumber()) onNumber?.(columnsOf(scan.columns()))
    },
    found: () => ({
      hash: hash.digest('base64url').slice(0, hashChars),
      hasNumber: scan.hasNumber(),
      numberColumns: columnsOf(scan.columns()),
    }),
  }
}
