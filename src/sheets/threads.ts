import { Worker } from 'node:worker_threads'

/**
 * Threads of their own for work on bytes that would block the server, or that a hostile file could take down. They
 * run one script, which answers each message with one message.
 */
export interface Threads<Job, Reply> {
  /** `bytes` are handed over: whoever calls must not look at them again. Throws `ThreadLost`. */
  run(job: Job & { bytes: Uint8Array }): Promise<Reply>
  close(): Promise<void>
}

/** The thread ended, ran out of memory or took too long; the next job gets a new one. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
}

/** Two, so that one file that takes its time does not hold up all the others. */
const threads = 2
const maxJobMs = 30_000
/** A thread that outgrows this is ended by the runtime, and the file is called too large. */
const resourceLimits = { maxOldGenerationSizeMb: 2_048 }

/** One thread, started when first needed, and those who wait for it. */
interface Lane {
  worker: Worker | null
  waiting: number
  last: Promise<unknown>
}

export function createThreads<Job, Reply>(script: URL): Threads<Job, Reply> {
  const lanes = Array.from(
    { length: threads },
    (): Lane => ({ worker: null, waiting: 0, last: Promise.resolve() }),
  )

  return {
    run(job) {
      const lane = lanes.reduce((one, other) => (other.waiting < one.waiting ? other : one))
      lane.waiting++
      const turn = lane.last.then(() => runIn(lane, job)).finally(() => lane.waiting--)
      lane.last = turn.catch(() => {})
      return turn
    },
    async close() {
      await Promise.all(
        lanes.map(async (lane) => {
          await lane.last
          await lane.worker?.terminate()
        }),
      )
    },
  }

  async function runIn(lane: Lane, job: Job & { bytes: Uint8Array }): Promise<Reply> {
    const worker = lane.worker ?? started(lane, script)
    lane.worker = worker
    try {
      return await oneReply<Reply>(worker, job)
    } catch (cause) {
      lane.worker = null
      await worker.terminate()
      throw new ThreadLost('The thread was lost', { cause })
    }
  }
}

/** A thread that fails while idle must neither end the process nor be asked again. */
function started(lane: Lane, script: URL): Worker {
  const worker = new Worker(script, { resourceLimits })
  worker.on('error', () => {})
  worker.once('exit', () => {
    if (lane.worker === worker) lane.worker = null
  })
  return worker
}

function oneReply<Reply>(worker: Worker, job: { bytes: Uint8Array }): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const timer = setTimeout(() => reject(new Error(`No answer in ${maxJobMs} ms`)), maxJobMs)
  const onExit = (code: number) => reject(new Error(`Thread ended with code ${code}`))
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', onExit)
  const bytes = ownBuffer(job.bytes)
  worker.ref()
  worker.postMessage({ ...job, bytes }, [bytes.buffer])
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve)
    worker.off('error', reject)
    worker.off('exit', onExit)
    // An idle thread must not keep the process alive.
    worker.unref()
  })
}

/** Small buffers share one pool in Node, and handing that over would take their neighbours along. */
export function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return isWhole && bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : Uint8Array.from(bytes)
}
