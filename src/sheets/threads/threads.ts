import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'
import type { AskedJob, FailedJob, ThreadAnswer, ThreadJob, ThreadMessage } from './thread-jobs.ts'

/** Threads of one kind. They run one script (`worker.ts`), and load what they are asked for by its name. */
export interface Threads {
  /** Throws `ThreadLost`, and what the job threw: a `ProviderFailure` with its words, anything else as a bug. */
  run<Input, Reply>(job: ThreadJob<Input, Reply>, input: Input, wish?: RunWish): Promise<WholeAnswer<Reply>>
  close(): Promise<void>
}

export interface RunWish {
  /** Not copied: whoever calls must not look at it again. */
  handOver?: readonly ArrayBuffer[]
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
/** One thread, started when first needed, and those who wait for it. */
interface ThreadQueue {
  worker: Worker | null
  waiting: number
  /** The newest job that has begun, answered by its first part. */
  begun: Promise<unknown>
  /** The newest job that is over. */
  last: Promise<unknown>
}

/** Where threads come from, and where they go. */
export interface ThreadSource {
  start(script: URL, options: WorkerOptions): Worker
  /** One that is well and has nothing to do. */
  takeBack(worker: Worker): Promise<unknown>
}

const ownThreads: ThreadSource = {
  start: (script, options) => new Worker(script, options),
  takeBack: (worker) => worker.terminate(),
}

export interface ThreadsParts {
  count: number
  /**
   * Threads that are ready for those which are lost, from when all have been in use at once: to start one takes longer than
   * most jobs do.
   */
  spares: number
  maxOldGenerationSizeMb: number
  /** What will be garbage soon: V8 would let it grow to 64 MB in every thread, and keep it (docs/decisions/017). */
  maxYoungGenerationSizeMb: number
  /** From 0 to 19: whose is higher goes on when the others leave it a processor. By Linux alone. */
  niceness: number
  source?: ThreadSource | undefined
}

const script = new URL('./worker.ts', import.meta.url)

export function createThreads({ source = ownThreads, ...parts }: ThreadsParts): Threads {
  const lanes = Array.from(
    { length: parts.count },
    (): ThreadQueue => ({ worker: null, waiting: 0, begun: Promise.resolve(), last: Promise.resolve() }),
  )
  const spares = new Set<Worker>()
  const ending = new Set<Promise<unknown>>()
  let jobs = 0
  let isClosing = false

  return {
    run<Input, Reply>({ module, name }: ThreadJob<Input, Reply>, input: Input, wish: RunWish = {}) {
      const lane = lanes.reduce((one, other) => (other.waiting < one.waiting ? other : one))
      lane.waiting++
      const answering = createAnswering<Reply>()
      const asked = { jobId: ++jobs, module, name, input }
      // The lane is free when the whole answer is there, not with its first part.
      lane.last = lane.last.then(() => runIn(lane, asked, wish, answering))
      return answering.answered
    },
    async close() {
      isClosing = true
      await Promise.all(
        lanes.map(async (lane) => {
          // What has begun is finished, but for the rest of an answer; what has not begun is not.
          await lane.begun
          const { worker } = lane
          if (worker && lane.waiting === 0) await source.takeBack(worker)
          else await worker?.terminate()
          await lane.last
        }),
      )
      for (const spare of spares) end(spare)
      await Promise.all(ending)
    },
  }

  /** Never throws: who asked is told by `answering`. */
  async function runIn<Reply>(
    lane: ThreadQueue,
    asked: AskedJob,
    wish: RunWish,
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
    const worker = lane.worker ?? startIn(lane)
    lane.begun = answered.catch(() => {})
    try {
      await exchange<Reply>(worker, asked, wish, takeAnswer)
    } catch (cause) {
      lane.worker = null
      // Nobody waits for that: it may have much to give back.
      end(worker)
      lane.waiting--
      fail(new ThreadLost('The thread was lost', { cause }))
    }
  }

  function startIn(lane: ThreadQueue): Worker {
    const worker = takeSpare() ?? start()
    lane.worker = worker
    worker.once('exit', () => {
      if (lane.worker === worker) lane.worker = null
    })
    if (lanes.every((each) => each.worker)) while (spares.size < parts.spares) keepSpare()
    return worker
  }

  function takeSpare(): Worker | null {
    for (const spare of spares) {
      spares.delete(spare)
      return spare
    }
    return null
  }

  function keepSpare(): void {
    const spare = start()
    spares.add(spare)
    spare.once('exit', () => spares.delete(spare))
    spare.unref()
  }

  function end(worker: Worker): void {
    const ended: Promise<unknown> = worker.terminate().finally(() => ending.delete(ended))
    ending.add(ended)
  }

  /** A thread that fails while idle must neither end the process nor be asked again. */
  function start(): Worker {
    const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb, niceness } = parts
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb }
    const worker = source.start(script, { resourceLimits, workerData: { niceness } })
    worker.on('error', () => {})
    return worker
  }
}

/** Resolves with the last message. */
function exchange<Reply>(
  worker: Worker,
  asked: AskedJob,
  { handOver = [], ended, onBegun }: RunWish,
  take: (message: ThreadAnswer<Reply>) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let timer = setTimeout(tooLong, maxPartMs)
  function tooLong(): void {
    reject(new Error(`No answer in ${maxPartMs} ms`))
  }
  const onMessage = (message: ThreadMessage<Reply>) => {
    // Rows would be told of another's sheet: such a thread is not to be trusted any more.
    if (message.jobId !== asked.jobId) return reject(new Error('An answer to another job'))
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
  worker.postMessage(asked, handOver)
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
