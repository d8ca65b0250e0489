import { parentPort } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'
import { type Comparison, compareReads } from './compare-reads.ts'
import type { ReadPair } from './google-comparing.ts'

/** The far side of `google-comparing.ts`: one pair at a time. */
export type CompareReply =
  | { comparison: Comparison & ReadPair }
  | { failure: string }
  | { malfunction: string }

parentPort?.on('message', ({ serialBody, shownBody }: ReadPair) => {
  try {
    const comparison = compareReads(serialBody, shownBody)
    reply({ comparison: { ...comparison, serialBody, shownBody } }, [
      serialBody.buffer,
      shownBody.buffer,
      comparison.dates.buffer,
    ])
  } catch (error) {
    if (error instanceof ProviderFailure) reply({ failure: error.message })
    else reply({ malfunction: (error instanceof Error && error.stack) || String(error) })
  }
})

function reply(message: CompareReply, handOver: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, handOver)
}
