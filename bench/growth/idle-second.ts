import { setTimeout as sleep } from 'node:timers/promises'
import type { Ground } from './ground.ts'
import type { Point } from './point.ts'

/** Longer than any of the server's own rounds that come every few seconds. */
const seconds = 5.5

/** What the server does by itself in a second in which nobody asks. */
export async function idleSecond(ground: Ground): Promise<Omit<Point, 'at' | 'request'>> {
  const end = ground.begin()
  await sleep(seconds * 1_000)
  return { ...end(seconds), p50Ms: Number.NaN, p99Ms: Number.NaN }
}
