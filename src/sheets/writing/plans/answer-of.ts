import type { ChangeResult } from '../../change.ts'
import { warningOfRows, warningOfWrite } from '../../rows/stale-results.ts'
import type { Column } from '../../rows/table.ts'
import type { StaleRows, WriteAnswer } from '../order.ts'
import type { Plan } from './plan.ts'

/** What the client is told of a plan that was carried out, with the results of formulas that it has left behind. */
export function* answerOf(
  plan: Plan,
  results: readonly ChangeResult[],
  columns: readonly Column[],
): Generator<void, WriteAnswer> {
  return { ...(yield* plan.answer(results, columns)), ...(yield* staleIn(plan, results, columns)) }
}

/** A step for so many: all there is to do for one is to see that there is nothing. */
const changesInAStep = 100

function* staleIn(
  { changes, staleBefore = [], warning }: Plan,
  results: readonly ChangeResult[],
  columns: readonly Column[],
): Generator<void, Pick<WriteAnswer, 'warning' | 'stale'>> {
  // Each result has the number of all.
  const cells = results.reduce((most, result) => Math.max(most, result.stale?.cells ?? 0), 0)
  const numbersOf = new Map<string, number[]>()
  const note = (key: string, rowNumber: number) => {
    const known = numbersOf.get(key)
    if (known) known.push(rowNumber)
    else numbersOf.set(key, [rowNumber])
  }
  const keyAt = new Map(columns.map(({ key, index }) => [index, key]))
  for (const [at, change] of changes.entries()) {
    if (at % changesInAStep === 0) yield
    if (change.kind === 'add') continue
    for (const index of results[at]?.stale?.columns ?? []) {
      const key = keyAt.get(index)
      if (key !== undefined) note(key, change.rowNumber)
    }
  }
  for (const { key, rowNumbers } of staleBefore) for (const rowNumber of rowNumbers) note(key, rowNumber)
  const stale: StaleRows[] = columns.flatMap(({ key }) => {
    const rowNumbers = numbersOf.get(key)?.sort((one, other) => one - other)
    return rowNumbers ? { key, rowNumbers } : []
  })
  const ofPlan = warning ?? null
  const ofResults = cells > 0 ? warningOfWrite(cells) : warningOfRows(stale)
  const said = ofPlan !== null && ofResults !== null ? `${ofPlan} ${ofResults}` : (ofPlan ?? ofResults)
  return { ...(said !== null && { warning: said }), ...(stale.length > 0 && { stale }) }
}
