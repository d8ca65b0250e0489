import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Snapshot } from '../../sheets/rows/snapshot.ts'

/** What is compared in one turn takes well below a millisecond. */
const bytesPerTurn = 512 * 1024
const rowsPerTurn = 64 * 1024

/**
 * Whether rows are the former ones, byte for byte, and after them those that were added since: what comes of most writes, told
 * without going through the rows. `nextTurn` is asked for before each piece of them: together they may have half a gigabyte.
 */
export async function isExplainedByAdditions(
  known: Snapshot,
  since: readonly LoggedChange[],
  next: Snapshot,
  nextTurn: () => Promise<void>,
): Promise<boolean> {
  const before = known.rowNumbers.length
  if (next.rowNumbers.length !== before + since.length) return false
  if (since.some(({ kind }) => kind !== 'added')) return false
  if (known.columns.length !== next.columns.length) return false
  if (known.columns.some(({ key }, at) => next.columns[at]?.key !== key)) return false
  if (since.some(({ row }, nth) => next.rowNumbers[before + nth] !== row)) return false
  // Without the bracket at its end.
  const head = bytesOf(known.listJson).subarray(0, -1)
  const added = since.map(({ after = '' }) => after).join(',')
  const tail = Buffer.from(`${before > 0 && since.length > 0 ? ',' : ''}${added}]`)
  const all = bytesOf(next.listJson)
  if (all.byteLength !== head.byteLength + tail.byteLength) return false
  if (!all.subarray(head.byteLength).equals(tail)) return false
  for (let from = 0; from < before; from += rowsPerTurn) {
    await nextTurn()
    const to = Math.min(from + rowsPerTurn, before)
    for (let at = from; at < to; at++) if (known.rowNumbers[at] !== next.rowNumbers[at]) return false
  }
  for (let from = 0; from < head.byteLength; from += bytesPerTurn) {
    await nextTurn()
    const piece = head.subarray(from, from + bytesPerTurn)
    if (!all.subarray(from, from + piece.byteLength).equals(piece)) return false
  }
  return true
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
