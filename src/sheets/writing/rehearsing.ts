import type { ChangeResult } from '../change.ts'
import type { JudgedTab } from './looks/judged-tab.ts'
import { takerOfOrder } from './order.ts'
import { answerOf } from './plans/answer-of.ts'
import { refuseOtherUnnamedCells } from './plans/undo/unnamed-cells.ts'
import type { Judged, SendingParts, SendOutcome } from './sending.ts'

/**
 * An order that is only to be told what would be done: everything is made ready, and nothing of it sent or noted in the journal.
 */
export async function rehearse(
  { waiting, plan }: Judged,
  base: JudgedTab,
  { provider, record, toDiscard, inTurns, rehearsing }: SendingParts,
): Promise<SendOutcome> {
  const prepared = await provider.prepare(record, plan.changes, base.version, base.columns)
  if (prepared === 'conflict') return { kind: 'conflict' }
  if ('changeAt' in prepared) return { kind: 'unfit', waiting, unfit: prepared }
  toDiscard.push(prepared)
  const conflict =
    plan.undoes === undefined
      ? null
      : await inTurns(refuseOtherUnnamedCells(plan.changes, prepared.expected, base.columns))
  if (conflict) return { kind: 'not_admitted', refused: [{ waiting, refusal: conflict }] }
  const results = prepared.expected.map((result) => numberResult(result, base))
  return rehearsing.pass(takerOfOrder(waiting.order), async () => {
    const answer = await inTurns(answerOf(plan, results, base.columns))
    const refusal = await waiting.order.stillAdmitted()
    if (refusal) return { kind: 'not_admitted', refused: [{ waiting, refusal }] }
    waiting.answer({ ...answer, isDryRun: true })
    await waiting.order.whenTold
    return { kind: 'applied' }
  })
}

/** Where the provider would only find out by doing it, the sheet as it was read tells where new rows would stand. */
function numberResult(result: ChangeResult, { rows }: JudgedTab): ChangeResult {
  const last = rows?.lastRowNumber ?? null
  if (result.kind !== 'add' || last === null) return result
  return { ...result, rowNumbers: result.rows.map((_, at) => last + 1 + at) }
}
