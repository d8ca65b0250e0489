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

/** A step for so many changes, or outdated cells: of most there is nothing to see. */
const countedInAStep = 2_000

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
  let counted = 0
  for (const [at, change] of changes.entries()) {
    const outdated = change.kind === 'add' ? [] : (results[at]?.stale?.columns ?? [])
    counted += outdated.length + 20
    if (counted >= countedInAStep) {
      counted = 0
      yield
    }
    if (change.kind === 'add') continue
    for (const index of outdated) {
      const key = keyAt.get(index)
      if (key !== undefined) note(key, change.rowNumber)
    }
  }
  for (const { key, rowNumbers } of staleBefore) for (const rowNumber of rowNumbers) note(key, rowNumber)
  const stale: StaleRows[] = []
  for (const { key } of columns) {
    const rowNumbers = numbersOf.get(key)?.sort((one, other) => one - other)
    if (!rowNumbers) continue
    stale.push({ key, rowNumbers })
    yield
  }
  const ofPlan = warning ?? null
  const ofResults = cells > 0 ? warningOfWrite(cells) : warningOfRows(stale)
  const said = ofPlan !== null && ofResults !== null ? `${ofPlan} ${ofResults}` : (ofPlan ?? ofResults)
  return { ...(said !== null && { warning: said }), ...(stale.length > 0 && { stale }) }
}
