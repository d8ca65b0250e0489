import { randomBase62 } from '../../secrets/random-base62.ts'
import { type Soon, then } from '../../soon.ts'
import type { FallOver } from '../fall-over.ts'
import type { SharedRegisters } from '../registers/shared-registers.ts'
import type { FleetingWindows, Opening, StandInWindows } from './fleeting-windows.ts'
import { fleetingWindowMs, heardByAllMs, type Losses, type LossRecord, lastsUntilMs } from './loss-record.ts'
import type { RateWindow, RateWindows } from './rate-windows.ts'

export interface FallingOverParts {
  first: FleetingWindows
  second: StandInWindows
  /** At the second place. */
  registers: SharedRegisters
  losses: LossRecord
  fallOver: FallOver
}

/** How often it is said again that the first place is out of reach, so that the others stay away from it, too. */
const tellAgainMs = 5_000
/** Two who see different lives of it need not tell each other with every request. */
const tellOtherLifeMs = 1_000
const plentyMs = Number.MAX_SAFE_INTEGER

/**
 * Rate windows that go over to others while the first ones are away, and come back by themselves: neither open nor
 * closed meanwhile (docs/reliability.md#when-redis-is-away). Whatever is lost, and how often, at most twice the limit
 * passes in any minute.
 *
 * That rests on the following, and on no clock but the second place's:
 * 1. From a loss until a minute after it was last told, windows are opened at the second place alone. So of all the
 *    windows that were lost, those of one name in one minute held the limit at most, and the second place gives no more
 *    than that again.
 * 2. A window that is open there is used to its end, and until then none is opened at the first.
 * 3. Two windows that follow each other may both be used within a minute. So before the second of them opens at the
 *    first place, the count of the one before it is noted at the second; after a loss that much less is given out there.
 */
export function createFallingOverWindows(parts: FallingOverParts): RateWindows {
  const { first, second, registers, losses, fallOver } = parts

  return {
    async takeFromWindow(name, limit, windowMs) {
      // Long ones would be lost too easily, and are asked for too rarely to be worth it.
      if (windowMs !== fleetingWindowMs) return takeLasting(name, limit, windowMs)
      for (;;) {
        const known = losses.seen()
        const seen = known instanceof Promise ? await known : known
        const isOver = losses.nowMs() < lastsUntilMs(seen)
        const answer = await (isOver ? takeAtSecond(seen, name, limit) : takeAtFirst(seen, name, limit))
        if (answer) return answer
      }
    },
    async readWindow(name, limit, windowMs) {
      if (windowMs !== fleetingWindowMs) return second.readWindow(name, limit, windowMs)
      const seen = await losses.seen()
      const nowMs = losses.nowMs()
      if (nowMs < lastsUntilMs(seen)) return second.readWindow(name, limit, windowMs)
      if (isSettling(seen)) {
        const window = await second.readWindow(name, limit, windowMs)
        if (window.remaining < limit) return window
      }
      const answer = fallOver.isOver()
        ? null
        : await fallOver.askFirst(() => first.readWindow(name, limit, windowMs, seen.sinceMs))
      return answer ?? second.readWindow(name, limit, windowMs)
    },
  }

  async function takeLasting(name: string, limit: number, windowMs: number): Promise<RateWindow> {
    const answer = await second.takeFromWindow(name, limit, windowMs, plentyMs)
    if (!answer) throw new Error('The store has left the time that can be counted in')
    return answer
  }

  /** Null where it must be asked for again, because things have changed. */
  async function takeAtFirst(seen: Losses, name: string, limit: number): Promise<RateWindow | null> {
    const may = isSettling(seen) ? 'never' : 'alone'
    const answer = await askFirst(seen, name, limit, { underMs: seen.sinceMs, may })
    if (answer === 'lost') return null
    if (!('isOpen' in answer)) return unlessChanged(seen, answer)
    if (isSettling(seen)) {
      const atSecond = await second.takeFromOpen(name, limit)
      if (atSecond) return atSecond
    }
    const lastAtSecond = isSettling(seen) ? await second.countOfLast(name, fleetingWindowMs) : 0
    const before = Math.max(answer.countBefore, lastAtSecond)
    if (before > 0) await note(name, before)
    // Whoever tells of a loss from here on finds the note.
    const now = await losses.seenAnew()
    if (now.version !== seen.version) return null
    const opened = await askFirst(seen, name, limit, {
      underMs: seen.sinceMs,
      may: { afterOneThatEndedAtMs: answer.endedAtMs },
    })
    if (opened === 'lost' || 'isOpen' in opened) return null
    return unlessChanged(seen, opened)
  }

  async function askFirst(seen: Losses, name: string, limit: number, opening: Opening) {
    const answer = fallOver.isOver()
      ? null
      : await fallOver.askFirst(async () => {
          const life = first.life()
          if (life === null) throw new Error('The first place is away')
          return life === seen.life
            ? first.takeFromWindow(name, limit, fleetingWindowMs, opening)
            : 'another life'
        })
    if (answer !== null && answer !== 'another life') return answer
    await losses.tell(first.life())
    return 'lost'
  }

  /** What was counted there meanwhile may be counted at the second place as well. */
  function unlessChanged(seen: Losses, answer: RateWindow): Soon<RateWindow | null> {
    return then(losses.isStill(seen), (isStill) => (isStill ? answer : null))
  }

  async function takeAtSecond(seen: Losses, name: string, limit: number): Promise<RateWindow | null> {
    const nowMs = losses.nowMs()
    const toldMs = nowMs - seen.toldAtMs
    const life = first.life()
    const isOtherLife = life !== null && life !== seen.life && toldMs > tellOtherLifeMs
    if (isOtherLife || (fallOver.isOver() && toldMs > tellAgainMs)) await losses.tell(life)
    // Also the last request at the first place must be out of every minute that one after this window is in.
    const isHeardByAll = nowMs >= seen.sinceMs + heardByAllMs
    const windowMs = isHeardByAll ? fleetingWindowMs : fleetingWindowMs + heardByAllMs
    const isNoted = nowMs < seen.sinceMs + heardByAllMs + fleetingWindowMs
    const less = isNoted ? await readNote(name) : 0
    const answer = await second.takeFromWindow(name, Math.max(0, limit - less), windowMs, lastsUntilMs(seen))
    if (!answer) await losses.seenAnew()
    return answer
  }

  /** A window that was opened at the second place may still be open, or have ended less than a minute ago. */
  function isSettling(seen: Losses): boolean {
    return losses.nowMs() < lastsUntilMs(seen) + 2 * fleetingWindowMs + heardByAllMs
  }

  async function readNote(name: string): Promise<number> {
    const { version, text } = await registers.readRegister(noteName(name))
    return version === null ? 0 : Number(text)
  }

  async function note(name: string, count: number): Promise<void> {
    const next = () => ({ version: randomBase62(12), text: String(count) })
    // The last note is a minute old, and gone, unless another instance has just put this one there.
    let there = await registers.swapRegister(noteName(name), null, next(), fleetingWindowMs)
    while (!there.isTaken)
      there = await registers.swapRegister(noteName(name), there.version, next(), fleetingWindowMs)
  }
}

function noteName(name: string): string {
  return `window before ${name}`
}
