import type { LoggedChange } from '../../sheets/logged-change.ts'
import type { Snapshot } from '../../sheets/rows/snapshot.ts'

/**
 * Whether rows are the former ones, byte for byte, and after them those that were added since: what comes of most writes, told
 * without going through the rows.
 */
export function isExplainedByAdditions(
  known: Snapshot,
  since: readonly LoggedChange[],
  next: Snapshot,
): boolean {
  const before = known.rowNumbers.length
  if (next.rowNumbers.length !== before + since.length) return false
  if (since.some(({ kind }) => kind !== 'added')) return false
  if (known.columns.length !== next.columns.length) return false
  if (known.columns.some(({ key }, at) => next.columns[at]?.key !== key)) return false
  if (since.some(({ row }, nth) => next.rowNumbers[before + nth] !== row)) return false
  const sameNumbers = known.rowNumbers.every((number, at) => next.rowNumbers[at] === number)
  if (!sameNumbers) return false
  // Without the bracket at its end.
  const head = bytesOf(known.listJson).subarray(0, -1)
  const added = since.map(({ after = '' }) => after).join(',')
  const tail = Buffer.from(`${before > 0 && since.length > 0 ? ',' : ''}${added}]`)
  const all = bytesOf(next.listJson)
  return (
    all.byteLength === head.byteLength + tail.byteLength &&
    all.subarray(0, head.byteLength).equals(head) &&
    all.subarray(head.byteLength).equals(tail)
  )
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
