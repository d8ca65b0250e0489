import type { Clock } from '../../clock.ts'
import type { SharedValue, ValueForm } from './shared-value.ts'

/** The value of one process, which shares it with nobody: no copies, no waiting. */
export function createOwnValue<T>({ empty }: Pick<ValueForm<T>, 'empty'>, clock: Clock): SharedValue<T> {
  const value = empty()
  return {
    change: (work) => work(value, clock.elapsedMs()),
    known: () => ({ value, nowMs: clock.elapsedMs() }),
    isShared: false,
    close() {},
  }
}
