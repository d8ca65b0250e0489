import type { Plan } from './plan.ts'

/** Where the changes of one order lie among those of all. */
export function stretchOf(
  group: readonly { plan: Pick<Plan, 'changes'> }[],
  at: number,
): { from: number; to: number } {
  let from = 0
  for (let before = 0; before < at; before++) from += group[before]?.plan.changes.length ?? 0
  return { from, to: from + (group[at]?.plan.changes.length ?? 0) }
}
