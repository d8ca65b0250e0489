/** A billing month: from the first instant of its first day up to the first instant of the next one's, UTC. */
export interface BillingCycle {
  startMs: number
  endMs: number
}

/**
 * The cycle that `nowMs` lies in. Each begins on the anchor's day of the month, or on the last day of a shorter month,
 * always counted from the anchor itself (31 Jan → 28 Feb → 31 Mar): from the cycle before, it would drift to the 28th.
 */
export function billingCycleAt(anchorMs: number, nowMs: number): BillingCycle {
  const anchor = new Date(anchorMs)
  const now = new Date(nowMs)
  const months =
    12 * (now.getUTCFullYear() - anchor.getUTCFullYear()) + now.getUTCMonth() - anchor.getUTCMonth()
  const isBegun = cycleStartMs(anchor, months) <= nowMs
  const cycle = isBegun ? months : months - 1
  return { startMs: cycleStartMs(anchor, cycle), endMs: cycleStartMs(anchor, cycle + 1) }
}

function cycleStartMs(anchor: Date, monthsLater: number): number {
  const year = anchor.getUTCFullYear()
  const month = anchor.getUTCMonth() + monthsLater
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), daysInMonth))
}
