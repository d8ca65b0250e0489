import type { Refusal } from '../../../errors.ts'
import type { Change, ChangeResult } from '../../change.ts'
import type { Column } from '../../rows/table.ts'
import type { StaleRows, WhatWasDone } from '../order.ts'

/** What an order comes to in the sheet as it is. */
export interface Plan {
  /** None where everything is as it should be already. */
  changes: readonly Change[]
  /** What the client is told, from what the provider says of each change. In steps, row by row. */
  answer(results: readonly ChangeResult[], columns: readonly Column[]): Generator<void, WhatWasDone>
  /** Its rows were found by what they hold: one that was hit instead of them is not what was asked for. */
  isByContent?: boolean
  /** The write that an undo takes back. */
  undoes?: string
  /** A sentence for the client where not everything can be as it asked. */
  warning?: string
  /** Outdated results in rows that are told and not written. */
  staleBefore?: readonly StaleRows[]
}

/**
 * 'later': it may mean a row, or what a row holds, that an order before it in the same batch makes, moves or alters. 'unread': it
 * can only be judged on the whole tab.
 */
export type Judgement = Plan | Refusal | 'later' | 'unread'

/** The result of a change of this kind. */
export function resultAs<K extends ChangeResult['kind']>(
  kind: K,
  result: ChangeResult | undefined,
): Extract<ChangeResult, { kind: K }> {
  if (result?.kind === kind) return result as Extract<ChangeResult, { kind: K }>
  throw new Error(`The provider answered "${kind}" with "${result?.kind}"`)
}
