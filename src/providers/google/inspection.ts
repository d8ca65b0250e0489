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
  const { hashPiece, hash } = createBodyHash()
  const scan = createNumberScan()
  return {
    inspectPiece(piece) {
      hashPiece(piece)
      if (scan.hasNumber()) return
      scan.scanPiece(piece)
      if (scan.hasNumber()) onNumber?.(columnsOf(scan.columns()))
    },
    found: () => ({
      hash: hash(),
      hasNumber: scan.hasNumber(),
      numberColumns: columnsOf(scan.columns()),
    }),
  }
}

/** All that is told of a body whose formats say what its numbers are. */
export interface BodyHash {
  hashPiece(piece: Uint8Array): void
  /** Once. */
  hash(): string
}

export function createBodyHash(): BodyHash {
  const hash = createHash('sha256')
  return {
    hashPiece: (piece) => void hash.update(piece),
    hash: () => hash.digest('base64url').slice(0, hashChars),
  }
}
