import type { Clock } from '../../clock.ts'
import { randomBase62 } from '../../secrets/random-base62.ts'
import type { FallOver } from '../fall-over.ts'
import type { SharedRegisters } from './shared-registers.ts'

export interface FallingOverCellsParts {
  first: SharedRegisters
  second: SharedRegisters
  fallOver: FallOver
  clock: Clock
}

const heedEveryMs = 500
/** One that cannot reach the first place says so again before this is over. */
const toldForMs = 2_000
const awayName = 'the first place is away'

/**
 * Registers that are kept elsewhere while the first place is away. Nothing moves with them: to whoever uses one it looks as
 * if it had been lost, and it is for them to bring back what they know.
 *
 * All go together: it may be away for one instance alone, and two who count in two places would count nothing. So whoever
 * cannot reach it says so at the second place, and the others look there now and then.
 */
export function createFallingOverRegisters(parts: FallingOverCellsParts): SharedRegisters {
  const { first, second, fallOver, clock } = parts
  let isAnyOver = false
  let askedAtMs = Number.NEGATIVE_INFINITY

  return {
    readRegister: (name) => asked((registers) => registers.readRegister(name)),
    swapRegister: (name, knownVersion, next, keepMs) =>
      asked((registers) => registers.swapRegister(name, knownVersion, next, keepMs)),
  }

  async function asked<T>(ask: (registers: SharedRegisters) => Promise<T>): Promise<T> {
    if (!fallOver.isOver()) heed()
    const answer = fallOver.isOver() || isAnyOver ? null : await fallOver.askFirst(() => ask(first))
    if (answer !== null) return answer
    if (fallOver.isOver()) await tell()
    return ask(second)
  }

  /** Nobody waits for it: what it says holds from the next question on. */
  function heed(): void {
    if (!isDue()) return
    second.readRegister(awayName).then(
      ({ version }) => {
        isAnyOver = version !== null
      },
      () => {},
    )
  }

  async function tell(): Promise<void> {
    const isKnown = isAnyOver
    isAnyOver = true
    if (!isDue() && isKnown) return
    const { version } = await second.readRegister(awayName)
    await second.swapRegister(awayName, version, { version: randomBase62(12), text: '' }, toldForMs)
  }

  function isDue(): boolean {
    const nowMs = clock.elapsedMs()
    if (nowMs - askedAtMs < heedEveryMs) return false
    askedAtMs = nowMs
    return true
  }
}
