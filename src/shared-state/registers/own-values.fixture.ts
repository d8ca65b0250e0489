import type { Clock } from '../../clock.ts'
import type { ShareValue } from './shared-value.ts'

/** Values of one process, for tests of what goes by them: no store, no copies, no waiting. */
export function createOwnValues(clock: Clock): ShareValue {
  return (_name, { empty }) => {
    const value = empty()
    return {
      change: (work) => work(value, clock.elapsedMs()),
      known: () => ({ value, nowMs: clock.elapsedMs() }),
      close() {},
    }
  }
}
