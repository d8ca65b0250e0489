import { positionOf, rowJson, type Snapshot } from '../snapshot.ts'
import type { WriteAnswer } from './order.ts'

/**
 * Where rows that were added stand, for an answer whose row numbers are a guess. They are adjacent and in order: where
 * they were expected, else the last place at which they are found, because additions go to the end. Rows that someone
 * has changed since are not found, and the guess remains.
 */
export function withFoundNumbers(answer: WriteAnswer, snapshot: Snapshot): WriteAnswer {
  if (answer.kind !== 'added') return answer
  const { rowsJson, rowNumbers } = answer
  const expectedAt = rowNumbers[0] === undefined ? null : positionOf(snapshot, rowNumbers[0])
  const foundAt =
    expectedAt !== null && isRunAt(snapshot, expectedAt, rowsJson) ? expectedAt : lastRun(snapshot, rowsJson)
  const first = foundAt === null ? guess(answer, snapshot) : (snapshot.rowNumbers[foundAt] ?? 0)
  return { ...answer, rowNumbers: rowsJson.map((_, at) => first + at) }
}

function guess(
  { rowNumbers, rowsJson }: WriteAnswer & { kind: 'added' },
  { lastRowNumber }: Snapshot,
): number {
  return rowNumbers[0] ?? Math.max(2, lastRowNumber - rowsJson.length + 1)
}

function lastRun(snapshot: Snapshot, rowsJson: readonly string[]): number | null {
  for (let at = snapshot.rowNumbers.length - rowsJson.length; at >= 0; at--) {
    if (isRunAt(snapshot, at, rowsJson)) return at
  }
  return null
}

function isRunAt(snapshot: Snapshot, at: number, rowsJson: readonly string[]): boolean {
  const first = snapshot.rowNumbers[at] ?? 0
  return rowsJson.every(
    (json, nth) => snapshot.rowNumbers[at + nth] === first + nth && rowJson(snapshot, at + nth) === json,
  )
}
