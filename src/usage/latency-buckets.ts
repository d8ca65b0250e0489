/**
 * Durations in buckets that grow by the fourth root of two: whatever the duration, what is told of it is at most a tenth
 * off. The first takes all up to 50 µs, the last all above a minute and a half.
 */
const firstMs = 0.05
const bucketsPerDoubling = 4
export const bucketCount = 84

export function bucketOf(durationMs: number): number {
  if (durationMs <= firstMs) return 0
  const bucket = Math.ceil(Math.log2(durationMs / firstMs) * bucketsPerDoubling)
  return bucket < bucketCount ? bucket : bucketCount - 1
}

/** The middle of a bucket. */
export function durationIn(bucket: number): number {
  return firstMs * 2 ** ((bucket - 0.5) / bucketsPerDoubling)
}

/** How long the fastest `share` of all requests took at most; null without requests. */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const ascending = [...counts].sort(([one], [other]) => one - other)
  const total = ascending.reduce((sum, [, count]) => sum + count, 0)
  let passed = 0
  for (const [bucket, count] of ascending) {
    passed += count
    if (passed >= total * share && count > 0) return durationIn(bucket)
  }
  return null
}
