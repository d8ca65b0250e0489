import type { Handed } from '../../../../sheets/threads/thread-jobs.ts'
import type { ReadPair } from '../google-comparing.ts'
import { type Comparison, compareReads } from './compare-reads.ts'

/** The far side of `google-comparing.ts`: two reads in, and back with what they say. */
export function comparePair({ serialBody, shownBody }: ReadPair): Handed<Comparison & ReadPair> {
  const comparison = compareReads(serialBody, shownBody)
  return {
    reply: { ...comparison, serialBody, shownBody },
    handOver: [serialBody.buffer, shownBody.buffer, comparison.dates.buffer],
  }
}
