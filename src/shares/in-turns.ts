import type { Soon } from '../soon.ts'

/** Does what is made of steps on the thread that answers everybody; before each, `turn` is asked for. */
export async function inTurns<T>(steps: Generator<void, T>, turn: () => Soon<void>): Promise<T> {
  for (;;) {
    const due = turn()
    if (due) await due
    const step = steps.next()
    if (step.done) return step.value
  }
}
