const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** As Standard Webhooks recommends: the last attempt comes three days after the first. */
const pausesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]

/** By time and not by attempts: a receiver that says when to come again may say so often. */
export const giveUpAfterMs = 72 * hourMs

const shortestWishMs = 5 * secondMs
const longestWishMs = 24 * hourMs
/** Those who failed together do not come back together. */
const spread = 0.1

/** `failedBefore`: attempts that have failed before this one. */
export function pauseAfter(failedBefore: number, retryAfterMs: number | null): number {
  if (retryAfterMs !== null) return Math.min(longestWishMs, Math.max(shortestWishMs, retryAfterMs))
  const pauseMs = pausesMs[Math.min(failedBefore, pausesMs.length - 1)] ?? longestWishMs
  return pauseMs * (1 - spread + 2 * spread * Math.random())
}
