import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'
import {
  type AskedJob,
  type FailedJob,
  type Handed,
  loadJob,
  type ThreadAnswer,
  type ThreadMessage,
} from './thread-jobs.ts'

/** The far side of `threads.ts`: one job at a time, and whatever becomes of it, one answer. */
const { niceness } = workerData as { niceness: number }

// On Linux 0 is the thread that asks; elsewhere it would be the whole process, and with it those who answer.
if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + niceness))

parentPort?.on('message', async ({ jobId, input, ...asked }: AskedJob) => {
  try {
    const job = await loadJob<unknown, unknown>(asked)
    // What has to be loaded first is not the file's doing.
    parentPort?.postMessage({ jobId, isBegun: true } satisfies ThreadMessage<unknown>)
    post(await job(input, (part) => post(part, true)), false)
  } catch (error) {
    post({ reply: failedJob(error), handOver: [] }, false)
  }

  function post({ reply, handOver }: Handed<unknown>, hasMore: boolean): void {
    const message: ThreadAnswer<unknown> = { jobId, reply, hasMore }
    parentPort?.postMessage(message, handOver as ArrayBuffer[])
  }
})

function failedJob(error: unknown): FailedJob {
  if (error instanceof ProviderFailure) return { failure: error.message, cause: String(error.cause ?? '') }
  return { malfunction: String(error), stack: (error instanceof Error && error.stack) || '' }
}
