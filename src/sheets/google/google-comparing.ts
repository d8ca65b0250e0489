import { Worker } from 'node:worker_threads'
import { ProviderFailure } from '../provider-failure.ts'
import { threadLimits } from '../threads.ts'
import type { Comparison } from './compare-reads.ts'
import type { CompareReply } from './google-comparing-worker.ts'

/** `compareReads` on a thread of its own: two large answers would block the server for most of a second. */
export interface GoogleComparing {
  /** Takes the bytes and gives them back: they are handed over, not copied. */
  compare(pair: ReadPair): Promise<Comparison & ReadPair>
  close(): Promise<void>
}

export interface ReadPair {
  serialBody: Uint8Array<ArrayBuffer>
  shownBody: Uint8Array<ArrayBuffer>
}

const maxCompareMs = 30_000

export function createGoogleComparing(): GoogleComparing {
  let worker: Worker | null = null
  let last: Promise<unknown> = Promise.resolve()

  return {
    compare(pair) {
      const turn = last.then(() => compareNow(pair))
      last = turn.catch(() => {})
      return turn
    },
    async close() {
      await last
      await worker?.terminate()
    },
  }

  async function compareNow(pair: ReadPair): Promise<Comparison & ReadPair> {
    const thread = worker ?? started()
    worker = thread
    const reply = await oneReply(thread, pair).catch(async (error: unknown) => {
      worker = null
      await thread.terminate()
      throw new ProviderFailure('the spreadsheet is too large or too complex to read', { cause: error })
    })
    if ('comparison' in reply) return reply.comparison
    if ('failure' in reply) throw new ProviderFailure(reply.failure, { isPassing: true })
    throw new Error(`Comparing failed: ${reply.malfunction}`)
  }

  /** A thread that fails while idle must neither end the process nor be asked again. */
  function started(): Worker {
    const thread = new Worker(new URL('./google-comparing-worker.ts', import.meta.url), {
      resourceLimits: threadLimits,
    })
    thread.on('error', () => {})
    thread.once('exit', () => {
      if (worker === thread) worker = null
    })
    return thread
  }
}

function oneReply(worker: Worker, { serialBody, shownBody }: ReadPair): Promise<CompareReply> {
  const { promise, resolve, reject } = Promise.withResolvers<CompareReply>()
  const timer = setTimeout(() => reject(new Error(`No answer in ${maxCompareMs} ms`)), maxCompareMs)
  const onExit = (code: number) => reject(new Error(`Thread ended with code ${code}`))
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', onExit)
  worker.ref()
  worker.postMessage({ serialBody, shownBody }, [serialBody.buffer, shownBody.buffer])
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve)
    worker.off('error', reject)
    worker.off('exit', onExit)
    // An idle thread must not keep the process alive.
    worker.unref()
  })
}
