/**
 * The places of one ration: at most `limit` calls may arrive at Google in any minute. When a call arrives is not
 * known, only that it was between its start and its end; so it holds its place from its start until a minute after
 * its end, and then no minute, wherever it is laid, has more than `limit` arrivals.
 */
export interface RationWindow {
  /** When the next place may be given out: now or earlier, later, or `Infinity` while only running calls hold them. */
  nextAtMs(nowMs: number): number
  /** When the nth call from now can start at the earliest, if none of those that run takes long. */
  openingAtMs(nth: number, nowMs: number): number
  take(nowMs: number): void
  /** `heldMs`: how long its place stays taken after the end of the call. */
  giveBack(nowMs: number, heldMs: number): void
  /** Nothing is given out until then, and after that one place at a time, until `reopen`. */
  closeUntil(atMs: number): void
  reopen(): void
  isClosed(nowMs: number): boolean
  /** From 0 to 1. */
  usedShare(nowMs: number): number
  isIdle(nowMs: number): boolean
}

export const windowMs = 60_000

/** `atOnceShare`: so much of it is given out as fast as it is asked for, the rest evenly. */
export function createRationWindow(limit: number, atOnceShare = 0.5): RationWindow {
  let running = 0
  /** When places come free again, ascending. */
  let freeAtMs: number[] = []
  let lastGivenMs = Number.NEGATIVE_INFINITY
  let closedUntilMs = Number.NEGATIVE_INFINITY
  let isOnTrial = false

  return {
    nextAtMs(nowMs) {
      const used = usedAt(nowMs)
      if (isOnTrial && running > 0) return Number.POSITIVE_INFINITY
      if (used >= limit) return Math.max(closedUntilMs, freeAtMs[0] ?? Number.POSITIVE_INFINITY)
      const isPaced = used > limit * atOnceShare
      return Math.max(closedUntilMs, isPaced ? lastGivenMs + spacingMs(limit - used) : nowMs)
    },
    openingAtMs(nth, nowMs) {
      const free = limit - usedAt(nowMs)
      const openMs = nth <= free ? nowMs : (freeAtMs[nth - free - 1] ?? nowMs + windowMs)
      return Math.max(closedUntilMs, openMs)
    },
    take(nowMs) {
      running++
      lastGivenMs = nowMs
    },
    giveBack(nowMs, heldMs) {
      running--
      if (heldMs === 0) return
      const atMs = nowMs + heldMs
      const before = freeAtMs.findLastIndex((otherMs) => otherMs <= atMs)
      freeAtMs.splice(before + 1, 0, atMs)
    },
    closeUntil(atMs) {
      closedUntilMs = Math.max(closedUntilMs, atMs)
      isOnTrial = true
    },
    reopen() {
      isOnTrial = false
    },
    isClosed: (nowMs) => closedUntilMs > nowMs,
    usedShare: (nowMs) => usedAt(nowMs) / limit,
    isIdle: (nowMs) => usedAt(nowMs) === 0 && !isOnTrial,
  }

  function usedAt(nowMs: number): number {
    const stillHeld = freeAtMs.findIndex((atMs) => atMs > nowMs)
    if (stillHeld !== 0) freeAtMs = stillHeld < 0 ? [] : freeAtMs.slice(stillHeld)
    return running + freeAtMs.length
  }

  /**
   * The shortest even spacing that never runs dry: with one call every `s` since the last, the call after the `free`
   * ones and the first j that come back must not be due before the jth is back.
   */
  function spacingMs(free: number): number {
    let spacing = 0
    freeAtMs.forEach((atMs, at) => {
      spacing = Math.max(spacing, (atMs - lastGivenMs) / (free + at + 1))
    })
    return running > 0 ? Math.max(spacing, windowMs / (free + freeAtMs.length + 1)) : spacing
  }
}
