import { inTurns } from '../../shares/in-turns.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import type { Taker } from '../../shares/taker.ts'

/** Does what is made of steps on the thread that answers everybody, with turns for all accounts: one is asked for before each. */
export type TakerTurns = <T>(steps: Generator<void, T>) => Promise<T>

export function createTakerTurns(taker: Taker, turns: LoopTurns): TakerTurns {
  return (steps) => inTurns(steps, () => turns.next(taker))
}
