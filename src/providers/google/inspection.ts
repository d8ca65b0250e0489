import { createHash } from 'node:crypto'
import { createNumberScan } from './read/values-scan.ts'

/** What must be known of a body before anyone parses it, found out a piece at a time while it comes. */
export interface BodyInspection {
  inspectPiece(piece: Uint8Array): void
  found(): { hash: string; hasNumber: boolean }
}

const hashChars = 22

/** `onNumber`: called at most once, as soon as there is one. */
export function createInspection(onNumber?: () => void): BodyInspection {
  const hash = createHash('sha256')
  const scan = createNumberScan()
  return {
    inspectPiece(piece) {
      hash.update(piece)
      if (scan.hasNumber()) return
      scan.scanPiece(piece)
      if (scan.hasNumber()) onNumber?.()
    },
    found: () => ({ hash: hash.digest('base64url').slice(0, hashChars), hasNumber: scan.hasNumber() }),
  }
}
