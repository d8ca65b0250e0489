import { Worker } from 'node:worker_threads'
import type { Observe } from '../observe.ts'
import type { DecodeReply } from './decoding-worker.ts'
import type { Fetched } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Turns fetched bytes into snapshots on threads of their own: 100,000 rows would block the server for most of a
 * second, and a hostile file would take it down. Whatever a file does to a thread, it is a `ProviderFailure` here.
 */
export interface Decoding {
  decode(fetched: Fetched): Promise<Snapshot>
  close(): Promise<void>
}

/** Two, so that one file that takes its time does not hold up all the others. */
const threads = 2
const maxDecodeMs = 30_000
/** A thread that outgrows this is ended by the runtime, and the file is called too large. */
const resourceLimits = { maxOldGenerationSizeMb: 2_048 }

/** One thread, started when first needed, and those who wait for it. */
interface Lane {
  worker: Worker | null
  waiting: number
  last: Promise<unknown>
}

export function createDecoding(observe: Observe): Decoding {
  const lanes = Array.from(
    { length: threads },
    (): Lane => ({ worker: null, waiting: 0, last: Promise.resolve() }),
  )

  return {
    decode(fetched) {
      const lane = lanes.reduce((one, other) => (other.waiting < one.waiting ? other : one))
      lane.waiting++
      const turn = lane.last.then(() => decodeIn(lane, fetched)).finally(() => lane.waiting--)
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

  async function decodeIn(lane: Lane, fetched: Fetched): Promise<Snapshot> {
    const worker = lane.worker ?? started(lane)
    lane.worker = worker
    const reply = await oneReply(worker, fetched).catch(async (error: unknown) => {
      observe({ event: 'decoder_lost', error })
      lane.worker = null
      await worker.terminate()
      throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause: error })
    })
    if ('snapshot' in reply) return reply.snapshot
    if ('failure' in reply) throw new ProviderFailure(reply.failure, { cause: reply.cause })
    throw new Error(`Decoding failed: ${reply.malfunction}`, { cause: reply.stack })
  }
}

/** A thread that fails while idle must neither end the process nor be asked again. */
function started(lane: Lane): Worker {
  const worker = new Worker(new URL('./decoding-worker.ts', import.meta.url), { resourceLimits })
  worker.on('error', () => {})
  worker.once('exit', () => {
    if (lane.worker === worker) lane.worker = null
  })
  return worker
}

function oneReply(worker: Worker, fetched: Fetched): Promise<DecodeReply> {
  const { promise, resolve, reject } = Promise.withResolvers<DecodeReply>()
  const timer = setTimeout(() => reject(new Error(`No answer in ${maxDecodeMs} ms`)), maxDecodeMs)
  const onExit = (code: number) => reject(new Error(`Thread ended with code ${code}`))
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', onExit)
  const bytes = ownBuffer(fetched.bytes)
  worker.ref()
  worker.postMessage({ ...fetched, bytes }, [bytes.buffer])
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
function ownBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return isWhole && bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : Uint8Array.from(bytes)
}
