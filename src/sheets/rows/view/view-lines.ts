import { listChunks } from '../query/list-chunks.ts'
import type { Snapshot } from '../snapshot.ts'

/** A step is so much text at most. */
const bytesPerStep = 256 * 1024

/** The rows of a view as lines of JSON, for the thread that makes a snapshot of them. In steps: they may be all of a large sheet. */
export function* viewLines(
  snapshot: Snapshot,
  fields: readonly number[],
  positions: Uint32Array | 'all',
): Generator<void, Buffer> {
  const pieces: Uint8Array[] = []
  let sincePause = 0
  for (const piece of listChunks(snapshot, positions, { fields, rowNumbers: true, wrap: 'lines' })) {
    pieces.push(piece)
    sincePause += piece.byteLength
    if (piece.byteLength > 0 && sincePause < bytesPerStep) continue
    sincePause = 0
    yield
  }
  return yield* joinPieces(pieces)
}

function* joinPieces(pieces: readonly Uint8Array[]): Generator<void, Buffer> {
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  let sincePause = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.byteLength
    sincePause += piece.byteLength
    if (sincePause < bytesPerStep) continue
    sincePause = 0
    yield
  }
  return joined
}
