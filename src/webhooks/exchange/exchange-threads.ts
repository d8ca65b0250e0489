import type { Exchanged, ExchangeWish } from './exchange.ts'
import { createExchangeThread, type ExchangeThread } from './exchange-thread.ts'

/**
 * A few threads for connections to receivers. Whatever an account's receivers do to a thread, they do to one: all that an account has
 * under way is there, and others go where nobody is kept waiting. Who keeps threads from their work again and again has one with those
 * who do the same.
 */
export interface ExchangeThreads {
  /** Never throws. When `left` is aborted, nobody waits for it any more. */
  exchange(accountId: string, wish: ExchangeWish, left: AbortSignal): Promise<Exchanged>
  close(): Promise<void>
}

export interface ExchangeThreadsParts {
  elapsedMs(): number
  start?: typeof createExchangeThread
}

/** Beside the one for those who keep threads from their work. */
const mostThreads = 3
/** A thread that has not answered for so long is not given anything else to do, and this is looked at so often. */
const lookEveryMs = 250
/** A handshake takes some milliseconds, and more on a crowded machine. */
const stuckFromMs = 500
const mostTimesStuck = 3
const rememberedMs = 10 * 60_000

interface Lane {
  thread: ExchangeThread
  /** How many each account has under way there. */
  accounts: Map<string, number>
  /** Since when it has owed an answer; null where it owes none. */
  askedAtMs: number | null
  isStuck: boolean
}

export function createExchangeThreads({
  elapsedMs,
  start = createExchangeThread,
}: ExchangeThreadsParts): ExchangeThreads {
  const lanes: Lane[] = []
  let lastLane: Lane | null = null
  const timesStuck = new Map<string, { times: number; untilMs: number }>()
  let timer: NodeJS.Timeout | null = null

  return {
    async exchange(accountId, wish, left) {
      const lane = laneFor(accountId)
      lane.accounts.set(accountId, (lane.accounts.get(accountId) ?? 0) + 1)
      timer ??= setInterval(lookAtLanes, lookEveryMs).unref()
      try {
        return await lane.thread.exchange(wish, left)
      } finally {
        const others = (lane.accounts.get(accountId) ?? 1) - 1
        if (others > 0) lane.accounts.set(accountId, others)
        else lane.accounts.delete(accountId)
        if (timer && allLanes().every(({ accounts }) => accounts.size === 0)) {
          clearInterval(timer)
          timer = null
        }
      }
    },
    async close() {
      if (timer) clearInterval(timer)
      timer = null
      await Promise.all(allLanes().map(({ thread }) => thread.close()))
    },
  }

  function allLanes(): Lane[] {
    return lastLane ? [...lanes, lastLane] : lanes
  }

  function laneFor(accountId: string): Lane {
    if (isKnownToStick(accountId)) {
      lastLane ??= newLane()
      return lastLane
    }
    const own = lanes.find(({ accounts }) => accounts.has(accountId))
    if (own) return own
    const free = lanes.filter((lane) => lane.askedAtMs === null || elapsedMs() - lane.askedAtMs < lookEveryMs)
    if (free.length === 0 && lanes.length < mostThreads) {
      const lane = newLane()
      lanes.push(lane)
      return lane
    }
    const among = free.length > 0 ? free : lanes
    return among.reduce((one, other) => (other.accounts.size < one.accounts.size ? other : one))
  }

  function newLane(): Lane {
    return { thread: start(), accounts: new Map(), askedAtMs: null, isStuck: false }
  }

  function isKnownToStick(accountId: string): boolean {
    const known = timesStuck.get(accountId)
    return known !== undefined && known.times >= mostTimesStuck && elapsedMs() < known.untilMs
  }

  function lookAtLanes(): void {
    const nowMs = elapsedMs()
    for (const lane of allLanes()) {
      if (lane.askedAtMs === null) {
        if (lane.accounts.size > 0) askLane(lane, nowMs)
      } else if (nowMs - lane.askedAtMs >= stuckFromMs && !lane.isStuck) {
        lane.isStuck = true
        for (const accountId of lane.accounts.keys()) noteStuck(accountId, nowMs)
      }
    }
    for (const [accountId, { untilMs }] of timesStuck) {
      if (nowMs < untilMs) break
      timesStuck.delete(accountId)
    }
  }

  function askLane(lane: Lane, nowMs: number): void {
    lane.askedAtMs = nowMs
    void lane.thread.answered().then(() => {
      lane.askedAtMs = null
      lane.isStuck = false
    })
  }

  /** In the order of time. */
  function noteStuck(accountId: string, nowMs: number): void {
    const known = timesStuck.get(accountId)
    const times = known && nowMs < known.untilMs ? known.times + 1 : 1
    timesStuck.delete(accountId)
    timesStuck.set(accountId, { times, untilMs: nowMs + rememberedMs })
  }
}
