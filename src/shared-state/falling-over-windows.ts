import type { Clock } from '../clock.ts'
import type { FallOver } from './fall-over.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

export interface FallingOverParts {
  first: RateWindows
  second: RateWindows
  fallOver: FallOver
  clock: Clock
}

type How = 'take' | 'look'

/**
 * Rate windows that go over to others while the first ones are away, and come back by themselves: neither open nor
 * closed meanwhile (RELIABILITY 2.4). An account may have up to twice its limit in the minute of the change, never more:
 * whoever has a window open at the second keeps it there to its end.
 */
export function createFallingOverWindows({ first, second, fallOver, clock }: FallingOverParts): RateWindows {
  /** Windows that were opened at the second may still be open until then. */
  let overUntilMs = 0

  return {
    take: (name, limit, windowMs) => ask('take', name, limit, windowMs),
    look: (name, limit, windowMs) => ask('look', name, limit, windowMs),
  }

  async function ask(how: How, name: string, limit: number, windowMs: number): Promise<RateWindow> {
    if (!fallOver.isOver() && (await mayAskFirst(name, limit, windowMs))) {
      const answer = await fallOver.askFirst(async () => first[how](name, limit, windowMs))
      if (answer) return answer
    }
    if (fallOver.isOver()) overUntilMs = clock.elapsedMs() + windowMs
    return second[how](name, limit, windowMs)
  }

  /** Not while this name has a window open at the second: an open one has counted at least one request. */
  async function mayAskFirst(name: string, limit: number, windowMs: number): Promise<boolean> {
    if (clock.elapsedMs() >= overUntilMs) return true
    const seen = await second.look(name, limit, windowMs)
    return seen.remaining === limit
  }
}
