import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketCount, bucketOf, durationIn, percentile } from './latency-buckets.ts'

test('what a bucket tells of a duration is at most a tenth off, from 50 µs to a minute', () => {
  for (let durationMs = 0.051; durationMs < 60_000; durationMs *= 1.07) {
    const told = durationIn(bucketOf(durationMs))
    assert.ok(Math.abs(told / durationMs - 1) < 0.1, `${durationMs} ms is told as ${told} ms`)
  }
})

test('no duration is without a bucket', () => {
  for (const durationMs of [0, -1, 0.01, 1e9, Number.MAX_VALUE]) {
    const bucket = bucketOf(durationMs)
    assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < bucketCount, `${durationMs}: ${bucket}`)
  }
})

test('percentiles of a known set', () => {
  const counts = new Map<number, number>()
  for (let n = 1; n <= 1_000; n++) {
    const bucket = bucketOf(n)
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
  }
  for (const [share, wantedMs] of [
    [0.5, 500],
    [0.95, 950],
    [0.99, 990],
  ] as const) {
    const told = percentile(counts, share) ?? 0
    assert.ok(Math.abs(told / wantedMs - 1) < 0.15, `p${share * 100} is told as ${told} ms`)
  }
  assert.equal(percentile(new Map(), 0.5), null)
})
