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
  switch (answer.kind) {
    case 'deleted':
    case 'many_deleted':
    case 'undone':
      return answer
    case 'updated': {
      const { isAsExpected, rowJson } = asItStands(answer.rowNumber, answer.rowJson, snapshot)
      return { ...answer, rowJson, ...(isAsExpected ? {} : { warning: movedWarning }) }
    }
    case 'many_updated': {
      const standing = answer.rowsJson.map((json, at) =>
        asItStands(answer.rowNumbers[at] ?? 0, json, snapshot),
      )
      const isAsExpected = standing.every((one) => one.isAsExpected)
      const rowsJson = standing.map((one) => one.rowJson)
      return { ...answer, rowsJson, ...(isAsExpected ? {} : { warning: movedWarning }) }
    }
    case 'upserted':
      return numberUpsertedRows(answer, snapshot, expectedLastRow)
    case 'added':
      return { ...answer, rowNumbers: numbersOf(answer, snapshot, expectedLastRow) }
  }
}

/** Those that were added stand together, in the order in which they were sent. */
function numberUpsertedRows(
  answer: WriteAnswer & { kind: 'upserted' },
  snapshot: Snapshot,
  expectedLastRow: number | null,
): WriteAnswer {
  const added = answer.rows.filter(({ was }) => was === 'added')
  const guessed = added.flatMap(({ rowNumber }) => rowNumber ?? [])
  const rowsJson = added.map(({ rowJson }) => rowJson)
  const numbers = numbersOf({ rowsJson, rowNumbers: guessed }, snapshot, expectedLastRow)
  let nth = 0
  const rows = answer.rows.map((row) =>
    row.was === 'added' ? { ...row, rowNumber: numbers[nth++] ?? null } : row,
  )
  return { ...answer, rows }
}

function numbersOf(
  { rowsJson, rowNumbers }: { rowsJson: readonly string[]; rowNumbers: readonly number[] },
  snapshot: Snapshot,
  expectedLastRow: number | null,
): number[] {
  if (rowsJson.length === 0) return []
  const expectedAt = rowNumbers[0] === undefined ? null : positionOf(snapshot, rowNumbers[0])
  const isAsExpected =
    snapshot.lastRowNumber === expectedLastRow &&
    expectedAt !== null &&
    isRunAt(snapshot, expectedAt, rowsJson)
  const foundAt = isAsExpected ? expectedAt : onlyRun(snapshot, rowsJson)
  const first = foundAt === null ? undefined : snapshot.rowNumbers[foundAt]
  return first === undefined ? [] : rowsJson.map((_, at) => first + at)
}

/**
 * A row that was changed under columns that have moved since, or moved in the very moment: the values are no longer where
 * they were expected by name. Then the row is told as it stands.
 */
function asItStands(
  rowNumber: number,
  told: string,
  snapshot: Snapshot,
): { rowJson: string; isAsExpected: boolean } {
  const expected = JSON.parse(told) as Record<string, unknown>
  const keys = snapshot.columns.map(({ key }) => key)
  if (Object.keys(expected).join('\n') === keys.join('\n')) return { rowJson: told, isAsExpected: true }
  const position = positionOf(snapshot, rowNumber)
  const rowJsonNow = position === null ? snapshot.blankRowJson : rowJson(snapshot, position)
  const now = JSON.parse(rowJsonNow) as Record<string, unknown>
  const isAsExpected = Object.entries(expected).every(([key, value]) => now[key] === value)
  return { rowJson: rowJsonNow, isAsExpected }
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
