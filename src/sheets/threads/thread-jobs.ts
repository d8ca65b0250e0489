import { parentPort } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'

/** What a thread sends back: that it has begun, at most one part of the answer that is there sooner, then the answer. */
export type ThreadMessage<Reply> = { jobId: number; isBegun: true } | ThreadAnswer<Reply>

export interface ThreadAnswer<Reply> {
  jobId: number
  reply: Reply | FailedJob
  hasMore: boolean
}

/** An error does not survive the way between threads; what it says does. */
export type FailedJob = { failure: string; cause: string } | { malfunction: string; stack: string }

export interface Handed<Reply> {
  reply: Reply
  /** Not copied: it is gone from here. */
  handOver: readonly ArrayBufferLike[]
}

/** The far side of `threads.ts`: one job at a time, and whatever becomes of it, one answer. */
export function answerJobs<Job, Reply>(
  answer: (job: Job, sooner: (part: Handed<Reply>) => void) => Promise<Handed<Reply>>,
): void {
  parentPort?.on('message', async (job: Job & { jobId: number }) => {
    parentPort?.postMessage({ jobId: job.jobId, isBegun: true } satisfies ThreadMessage<Reply>)
    try {
      post(await answer(job, (part) => post(part, true)), false)
    } catch (error) {
      post({ reply: failed(error), handOver: [] }, false)
    }

    function post({ reply, handOver }: Handed<Reply | FailedJob>, hasMore: boolean): void {
      const message: ThreadAnswer<Reply | FailedJob> = { jobId: job.jobId, reply, hasMore }
      parentPort?.postMessage(message, handOver as ArrayBuffer[])
    }
  })
}

function failed(error: unknown): FailedJob {
  if (error instanceof ProviderFailure) return { failure: error.message, cause: String(error.cause ?? '') }
  return { malfunction: String(error), stack: (error instanceof Error && error.stack) || '' }
}
