/** A call that the provider may count, from when it may be sent until it counts no more. */
export interface RationPlace {
  id: string
  /** While the call runs: for a server that was killed and will never say that it has ended. */
  freeAtMs: number
}

/** What is known of one ration: plain data, to be shared by several servers. */
export interface Ration {
  /** Places of calls that have not ended yet. */
  running: RationPlace[]
  /** Places of calls that have ended, in the order in which they come free. */
  ended: RationPlace[]
  lastGivenMs: number
  closedUntilMs: number
  /** After a refusal: one place at a time, until the provider has taken a call. */
  isOnTrial: boolean
  /** Times that the provider refused in a row. */
  refusals: number
}

/**
 * The places of one ration: at most `limit` calls may arrive at the provider in any minute. When a call arrives is
 * not known, only that it was between its start and its end; so it holds its place from its start until a minute after
 * its end, and then no minute, wherever it is laid, has more than `limit` arrivals.
 */
export interface RationWindow {
  /** When the next place may be given out: now or earlier, later, or `Infinity` while only running calls hold them. */
  nextAtMs(nowMs: number): number
  /** When the nth call from now can start at the earliest, if none of those that run takes long. */
  openingAtMs(nth: number, nowMs: number): number
  /** Places are scarce: they are given out one by one. */
  isPaced(nowMs: number): boolean
  /** From 0 to 1. */
  usedShare(nowMs: number): number
}

export const windowMs = 60_000
/** No call lasts so long, with all that is done for it before it is sent, and a minute and its stragglers after it. */
export const runningMs = 120_000
/**
 * How long a call on trial keeps the others waiting. Its server may have been killed and the provider may be frozen; nobody can
 * tell that from a slow answer, and it is no reason for all of them to be silent: then the next one tries.
 */
const trialMs = 2_000

export function emptyRation(): Ration {
  return { running: [], ended: [], lastGivenMs: 0, closedUntilMs: 0, isOnTrial: false, refusals: 0 }
}

/** `atOnceShare`: how much of it is given out as fast as it is asked for; the rest follows evenly. */
export function windowOf(ration: Ration, limit: number, atOnceShare = 0.5): RationWindow {
  const { running, ended, lastGivenMs, closedUntilMs } = ration

  return {
    nextAtMs(nowMs) {
      const openMs = Math.max(closedUntilMs, triedUntilMs())
      const used = usedAt(nowMs)
      if (used >= limit) {
        return Math.max(openMs, ended[freeBy(nowMs)]?.freeAtMs ?? Number.POSITIVE_INFINITY)
      }
      const isPaced = used > limit * atOnceShare
      return Math.max(openMs, isPaced ? lastGivenMs + spacingMs(limit - used, nowMs) : nowMs)
    },
    openingAtMs(nth, nowMs) {
      const free = limit - usedAt(nowMs)
      const comesFree = ended[freeBy(nowMs) + nth - free - 1]
      return Math.max(closedUntilMs, nth <= free ? nowMs : (comesFree?.freeAtMs ?? nowMs + windowMs))
    },
    isPaced: (nowMs) => usedAt(nowMs) > limit * atOnceShare,
    usedShare: (nowMs) => usedAt(nowMs) / limit,
  }

  /** Who was let through before it closed is not on trial: such a call may have died with its server. */
  function triedUntilMs(): number {
    if (!ration.isOnTrial) return 0
    const begunMs = running.map(({ freeAtMs }) => freeAtMs - runningMs)
    return Math.max(0, ...begunMs.filter((atMs) => atMs >= closedUntilMs).map((atMs) => atMs + trialMs))
  }

  function usedAt(nowMs: number): number {
    return runningAt(nowMs) + ended.length - freeBy(nowMs)
  }

  function runningAt(nowMs: number): number {
    return running.reduce((held, { freeAtMs }) => held + (freeAtMs > nowMs ? 1 : 0), 0)
  }

  /** How many of those that have ended count no more: the first ones. */
  function freeBy(nowMs: number): number {
    const held = ended.findIndex(({ freeAtMs }) => freeAtMs > nowMs)
    return held < 0 ? ended.length : held
  }

  /**
   * The shortest even spacing that never runs dry: with one call every `s` since the last, the call after the `free`
   * ones and the first j that come back must not be due before the jth is back.
   */
  function spacingMs(free: number, nowMs: number): number {
    const first = freeBy(nowMs)
    let spacing = 0
    for (let at = first; at < ended.length; at++) {
      const backInMs = (ended[at]?.freeAtMs ?? 0) - lastGivenMs
      spacing = Math.max(spacing, backInMs / (free + at - first + 1))
    }
    const isAnyRunning = runningAt(nowMs) > 0
    return isAnyRunning ? Math.max(spacing, windowMs / (free + ended.length - first + 1)) : spacing
  }
}
