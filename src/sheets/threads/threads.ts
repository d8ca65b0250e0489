import { Worker } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'
import type { FailedJob, ThreadAnswer, ThreadMessage } from './thread-jobs.ts'

/**
 * Threads of their own for work on bytes that would block the server, or that a hostile file could take down. They
 * run one script, which answers with `answerJobs`.
 */
export interface Threads<Job, Reply> {
  /**
   * What is in `handOver` is not copied: whoever calls must not look at it again. Throws `ThreadLost`, and what the job
   * threw: a `ProviderFailure` with its words, anything else as a bug.
   */
  run(job: Job, handOver: readonly ArrayBuffer[], wish?: RunWish): Promise<WholeAnswer<Reply>>
  close(): Promise<void>
}

export interface RunWish {
  /** The thread is ended with what it does, and `ThreadLost` is thrown. */
  ended?: AbortSignal
  /** The thread has begun with it: it may have had to be started first. */
  onBegun?(): void
}

export interface WholeAnswer<Reply> {
  reply: Reply
  /** The rest, where `reply` was a part that is there sooner. */
  rest: Promise<Reply> | null
}

/** The thread ended, ran out of memory or took too long; the next job gets a new one. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}

/** For each part of an answer. */
const maxPartMs = 30_000
/**
 * A thread whose old generation outgrows this is ended by the runtime, and the file is called too large. The young one holds
 * what will be garbage soon: V8 would let it grow to 64 MB in every thread, and keep it. With 12 MB large sheets are
 * decoded as fast, with 6 they are not (docs/decisions/017).
 */
const threadLimits = { maxOldGenerationSizeMb: 2_048, maxYoungGenerationSizeMb: 12 }

interface Asked<Job> {
  job: Job
  handOver: readonly ArrayBuffer[]
  wish: RunWish
}

/** One thread, started when first needed, and those who wait for it. */
interface ThreadQueue {
  worker: Worker | null
  waiting: number
  /** The newest job that has begun, answered by its first part. */
  begun: Promise<unknown>
  /** The newest job that is over. */
  last: Promise<unknown>
}

export interface ThreadsParts {
  script: URL
  count: number
  maxOldGenerationSizeMb?: number
}

export function createThreads<Job, Reply>(parts: ThreadsParts): Threads<Job, Reply> {
  const lanes = Array.from(
    { length: parts.count },
    (): ThreadQueue => ({ worker: null, waiting: 0, begun: Promise.resolve(), last: Promise.resolve() }),
  )
  let jobs = 0
  let isClosing = false

  return {
    run(job, handOver, wish = {}) {
      const lane = lanes.reduce((one, other) => (other.waiting < one.waiting ? other : one))
      lane.waiting++
      const answering = createAnswering<Reply>()
      // The lane is free when the whole answer is there, not with its first part.
      lane.last = lane.last.then(() => runIn(lane, { job, handOver, wish }, answering))
      return answering.answered
    },
    async close() {
      isClosing = true
      await Promise.all(
        lanes.map(async (lane) => {
          // What has begun is finished, but for the rest of an answer; what has not begun is not.
          await lane.begun
          await lane.worker?.terminate()
          await lane.last
        }),
      )
    },
  }

  /** Never throws: who asked is told by `answering`. */
  async function runIn(
    lane: ThreadQueue,
    { job, handOver, wish }: Asked<Job>,
    { answered, take, fail }: Answering<Reply>,
  ): Promise<void> {
    // Before anyone is told: whoever hears of it may have the next job already.
    const takeAnswer = (message: ThreadAnswer<Reply>) => {
      if (!message.hasMore) lane.waiting--
      take(message)
    }
    if (isClosing) {
      lane.waiting--
      fail(new ThreadLost('The thread is closed'))
      return
    }
    const worker = lane.worker ?? started(lane, parts)
    lane.worker = worker
    lane.begun = answered.catch(() => {})
    try {
      const asked = { job: { ...job, jobId: ++jobs }, handOver, wish }
      await exchange<Reply>(worker, asked, takeAnswer)
    } catch (cause) {
      lane.worker = null
      await worker.terminate()
      lane.waiting--
      fail(new ThreadLost('The thread was lost', { cause }))
    }
  }
}

/** A thread that fails while idle must neither end the process nor be asked again. */
function started(lane: ThreadQueue, { script, maxOldGenerationSizeMb }: ThreadsParts): Worker {
  const worker = new Worker(script, {
    resourceLimits: { ...threadLimits, ...(maxOldGenerationSizeMb && { maxOldGenerationSizeMb }) },
  })
  worker.on('error', () => {})
  worker.once('exit', () => {
    if (lane.worker === worker) lane.worker = null
  })
  return worker
}

/** Resolves with the last message. */
function exchange<Reply>(
  worker: Worker,
  { job, handOver, wish: { ended, onBegun } }: Asked<{ jobId: number }>,
  take: (message: ThreadAnswer<Reply>) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let timer = setTimeout(tooLong, maxPartMs)
  function tooLong(): void {
    reject(new Error(`No answer in ${maxPartMs} ms`))
  }
  const onMessage = (message: ThreadMessage<Reply>) => {
    // Rows would be told of another's sheet: such a thread is not to be trusted any more.
    if (message.jobId !== job.jobId) return reject(new Error('An answer to another job'))
    if ('isBegun' in message) return onBegun?.()
    clearTimeout(timer)
    take(message)
    if (message.hasMore) timer = setTimeout(tooLong, maxPartMs)
    else resolve()
  }
  const onExit = (code: number) => reject(new Error(`Thread ended with code ${code}`))
  worker.on('message', onMessage)
  worker.once('error', reject)
  worker.once('exit', onExit)
  const onEnded = () => reject(ended?.reason)
  if (ended?.aborted) onEnded()
  ended?.addEventListener('abort', onEnded)
  worker.ref()
  worker.postMessage(job, handOver)
  return promise.finally(() => {
    clearTimeout(timer)
    ended?.removeEventListener('abort', onEnded)
    worker.off('message', onMessage)
    worker.off('error', reject)
    worker.off('exit', onExit)
    // An idle thread must not keep the process alive.
    worker.unref()
  })
}

interface Answering<Reply> {
  answered: Promise<WholeAnswer<Reply>>
  take(message: ThreadAnswer<Reply>): void
  fail(error: unknown): void
}

/** An answer that comes whole, or in a part that is there sooner and the rest. */
function createAnswering<Reply>(): Answering<Reply> {
  const whole = Promise.withResolvers<WholeAnswer<Reply>>()
  const rest = Promise.withResolvers<Reply>()
  // Nobody may be waiting for it.
  rest.promise.catch(() => {})
  let isPartThere = false

  return {
    answered: whole.promise,
    take({ reply, hasMore }) {
      if (isFailed(reply)) fail(errorOf(reply))
      else if (isPartThere) rest.resolve(reply)
      else whole.resolve({ reply, rest: hasMore ? rest.promise : null })
      isPartThere ||= hasMore
    },
    fail,
  }

  function fail(error: unknown): void {
    whole.reject(error)
    rest.reject(error)
  }
}

function isFailed<Reply>(reply: Reply | FailedJob): reply is FailedJob {
  const fields = Object(reply) as object
  return 'failure' in fields || 'malfunction' in fields
}

function errorOf(failed: FailedJob): Error {
  if ('failure' in failed) return new ProviderFailure(failed.failure, { cause: failed.cause })
  return new Error(`A thread failed: ${failed.malfunction}`, { cause: failed.stack })
}

/** Small buffers share one pool in Node, and handing that over would take their neighbours along. */
export function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return isWhole && bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : Uint8Array.from(bytes)
}
