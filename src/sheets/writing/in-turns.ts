import type { LoopTurns } from '../../shares/loop-turns.ts'

/** Does what is made of steps on the thread that answers everybody, with turns for all accounts: one is asked for before each. */
export type InTurns = <T>(steps: Generator<void, T>) => Promise<T>

export function createInTurns(accountId: string, turns: LoopTurns): InTurns {
  return async (steps) => {
    for (;;) {
      const turn = turns.next(accountId)
      if (turn) await turn
      const step = steps.next()
      if (step.done) return step.value
    }
  }
}
