import type { FlooredFigure } from './floored.ts'

/** What became of one row of the bench. */
export type Outcome =
  | { row: string; became: 'measured'; said: string; floored: readonly FlooredFigure[] }
  | { row: string; became: 'failed'; why: string }
  | { row: string; became: 'skipped'; why: string }

export const noFloor = 'no floor; measured for itself'

/** What a failure of a row says of its figures: nothing is known of any, so none is reached. */
export function isAllReached(outcomes: readonly Outcome[]): boolean {
  return outcomes.every(
    (outcome) =>
      outcome.became === 'skipped' ||
      (outcome.became === 'measured' && outcome.floored.every(({ isReached }) => isReached)),
  )
}

/** Every figure that has a floor, as a table; below it what was not measured. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const lines = outcomes.flatMap(linesOf)
  const skipped = outcomes.flatMap(({ row, ...outcome }) =>
    outcome.became === 'skipped' ? [`SKIPPED: ${row}: ${outcome.why}`] : [],
  )
  const table =
    lines.length === 0
      ? ['Nothing that has a floor was measured.']
      : ['| figure | measured | floor | |', '|---|---|---|---|', ...lines]
  return [...table, ...(skipped.length > 0 ? ['', ...skipped] : [])].join('\n')
}

function linesOf(outcome: Outcome): string[] {
  if (outcome.became === 'skipped') return []
  if (outcome.became === 'failed') return [`| ${outcome.row} | | | FAILED: ${outcome.why} |`]
  return outcome.floored.map(
    ({ name, figure, floor, isReached }) =>
      `| ${outcome.row}: ${name} | ${figure} | ${floor} | ${isReached ? 'reached' : 'MISSED'} |`,
  )
}
