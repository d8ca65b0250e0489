import { positionOf, rowJson, type Snapshot } from '../rows/snapshot.ts'
import { movedWarning, type WriteAnswer } from './order.ts'

/**
 * The row numbers of an addition whose own answer was lost, from a read after it. They are told only when they are
 * certain: the rows stand where they were expected and the tab ends where it then must, or they are there just once.
 * Else rows that look alike may be another caller's, or a person's, and no number is told.
 */
export function withFoundNumbers(
  answer: WriteAnswer,
  snapshot: Snapshot,
  expectedLastRow: number | null,
): WriteAnswer {
  if (answer.kind === 'updated') return asItStands(answer, snapshot)
  if (answer.kind === 'deleted') return answer
  const { rowsJson, rowNumbers } = answer
  const expectedAt = rowNumbers[0] === undefined ? null : positionOf(snapshot, rowNumbers[0])
  const isAsExpected =
    snapshot.lastRowNumber === expectedLastRow &&
    expectedAt !== null &&
    isRunAt(snapshot, expectedAt, rowsJson)
  const foundAt = isAsExpected ? expectedAt : onlyRun(snapshot, rowsJson)
  const first = foundAt === null ? undefined : snapshot.rowNumbers[foundAt]
  return { ...answer, rowNumbers: first === undefined ? [] : rowsJson.map((_, at) => first + at) }
}

/**
 * A row that was changed under columns that have moved since, or moved in the very moment: the values are no longer where
 * they were expected by name. Then the row is told as it stands.
 */
function asItStands(answer: WriteAnswer & { kind: 'updated' }, snapshot: Snapshot): WriteAnswer {
  const expected = JSON.parse(answer.rowJson) as Record<string, unknown>
  const keys = snapshot.columns.map(({ key }) => key)
  if (Object.keys(expected).join('\n') === keys.join('\n')) return answer
  const position = positionOf(snapshot, answer.rowNumber)
  const rowJsonNow = position === null ? snapshot.blankRowJson : rowJson(snapshot, position)
  const now = JSON.parse(rowJsonNow) as Record<string, unknown>
  const isAsExpected = Object.entries(expected).every(([key, value]) => now[key] === value)
  return { ...answer, rowJson: rowJsonNow, ...(isAsExpected ? {} : { warning: movedWarning }) }
}

function onlyRun(snapshot: Snapshot, rowsJson: readonly string[]): number | null {
  let found: number | null = null
  for (let at = snapshot.rowNumbers.length - rowsJson.length; at >= 0; at--) {
    if (!isRunAt(snapshot, at, rowsJson)) continue
    if (found !== null) return null
    found = at
  }
  return found
}

function isRunAt(snapshot: Snapshot, at: number, rowsJson: readonly string[]): boolean {
  const first = snapshot.rowNumbers[at] ?? 0
  return rowsJson.every(
    (json, nth) => snapshot.rowNumbers[at + nth] === first + nth && rowJson(snapshot, at + nth) === json,
  )
}
