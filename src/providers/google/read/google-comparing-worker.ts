import { answerJobs } from '../../../sheets/threads/thread-jobs.ts'
import { type Comparison, compareReads } from './compare-reads.ts'
import type { ReadPair } from './google-comparing.ts'

/** The far side of `google-comparing.ts`: one pair at a time. */
answerJobs<ReadPair, Comparison & ReadPair>(async ({ serialBody, shownBody }) => {
  const comparison = compareReads(serialBody, shownBody)
  return {
    reply: { ...comparison, serialBody, shownBody },
    handOver: [serialBody.buffer, shownBody.buffer, comparison.dates.buffer],
  }
})
