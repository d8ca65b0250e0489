import { Refusal } from '../../../errors.ts'
import type { JudgedTab } from '../looks/judged-tab.ts'
import type { Wish } from '../order.ts'
import { createGround, type JudgedSettings } from './ground.ts'
import type { GroupEffects } from './group-effects.ts'
import { judgeManyRows } from './many-rows.ts'
import { judgeAddition } from './new-rows.ts'
import { judgeOneRow } from './one-row.ts'
import type { Judgement } from './plan.ts'
import { judgeUndo } from './undo/undo.ts'
import { judgeUpsert } from './upsert.ts'

/** What a wish is in the sheet's own terms, or why it cannot be. In steps: some look at every row. */
export type Judge = (wish: Wish, effects: GroupEffects) => Generator<void, Judgement>

export function createJudge(tab: JudgedTab, settings: JudgedSettings): Judge {
  const ground = createGround(tab, settings)
  return function* judge(wish, effects) {
    if (tab.columns.length === 0) return new Refusal('missing_headers')
    switch (wish.kind) {
      case 'add':
        return yield* judgeAddition(wish, ground, effects)
      case 'update':
      case 'delete':
        return yield* judgeOneRow(wish, ground, effects)
      case 'upsert':
        return yield* judgeUpsert(wish, ground, effects)
      case 'update_many':
      case 'delete_many':
        return yield* judgeManyRows(wish, ground, effects)
      case 'undo':
        return yield* judgeUndo(wish, ground, effects)
    }
  }
}
