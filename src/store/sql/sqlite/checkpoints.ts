import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { idleTimers } from '../../../timers.ts'
import type { CheckpointAnswer } from './checkpoint-thread.ts'

/**
 * What is committed stands in SQLite's log (WAL) until it is copied into the database. SQLite would do that within the commit that made
 * the log long, on the thread that answers everybody: 4 MB take it 10 ms, and as long as the disk likes. So a thread does it,
 * with a connection of its own (docs/decisions/053).
 */
export interface Checkpoints {
  /** To be asked where the writer's connection is in no transaction. */
  look(): void
  /** What is being copied is waited for. */
  close(): Promise<void>
}

export interface CheckpointParts {
  writer: DatabaseSync
  /** While `work` goes on, nobody writes through this connection; they wait without keeping the thread. */
  alone<T>(work: () => Promise<T>): Promise<T>
  thread: CopyingThread
  limits?: CheckpointLimits
}

/** In pages of the database, 4 KB each. */
export interface CheckpointLimits {
  /** How many wait before they are copied; SQLite's own default. */
  copiedFromPages: number
  /**
   * The log begins anew at its beginning only where all of it is copied, which does not come to pass while others write all the time. When it is as long
   * as that they wait for the rest.
   */
  finishedFromPages: number
  /** Nobody writes any more before what is being copied is there. */
  mostPages: number
}

/** Where pages are copied that this thread has no time for. */
export interface CopyingThread {
  /** Throws where it could not be done there. */
  copy(): Promise<Copied>
  close(): Promise<unknown>
}

export interface Copied {
  logPages: number
  copiedPages: number
}

const ownLimits: CheckpointLimits = { copiedFromPages: 1_000, finishedFromPages: 2_000, mostPages: 16_000 }
/** Longer than that it grew once, because somebody read for long, or one change was as large; the disk gets it back. */
export const mostIdleLogBytes = 16 * 1024 * 1024

export function createCheckpoints({
  writer,
  alone,
  thread,
  limits = ownLimits,
}: CheckpointParts): Checkpoints {
  const measured = writer.prepare('pragma wal_checkpoint(noop)')
  const copiedHere = writer.prepare('pragma wal_checkpoint(passive)')
  /** What could not be copied is not tried again before the log has grown by as much as another time. */
  let notBeforePages = 0
  let lastPages = 0
  let copying: Promise<void> | null = null
  let pass: Promise<unknown> | null = null
  let isWaitedFor = false
  let isClosing = false

  return {
    look() {
      const present = isClosing ? null : measure()
      if (!present) return
      const { logPages, copiedPages } = present
      if (logPages < lastPages) notBeforePages = 0
      lastPages = logPages
      if (pass && logPages >= limits.mostPages) waitFor(pass)
      const isDue = logPages - copiedPages >= limits.copiedFromPages && logPages >= notBeforePages
      if (copying || !isDue) return
      copying = copyAll(logPages).finally(() => {
        copying = null
      })
    },
    async close() {
      isClosing = true
      await copying
      await thread.close()
    },
  }

  /** Whoever gives the connection back has done what was to be done: nothing that is wrong here is theirs. */
  function measure(): Copied | null {
    try {
      const { log, checkpointed } = measured.get() ?? {}
      return { logPages: Number(log), copiedPages: Number(checkpointed) }
    } catch {
      return null
    }
  }

  /** Never throws: what is not copied today is safe in the log. */
  async function copyAll(logPages: number): Promise<void> {
    notBeforePages = logPages + limits.copiedFromPages
    try {
      await inPass(thread.copy())
      if (isClosing || !isToBeFinished(measure())) return
      await alone(() => inPass(thread.copy()))
    } catch {
      if (!isClosing) await alone(copyHere).catch(() => {})
    }
  }

  /** Not where all is copied: whoever writes next begins anew then. Nobody knows in the middle of a transaction. */
  function isToBeFinished(present: Copied | null): boolean {
    if (!present) return true
    return present.logPages >= limits.finishedFromPages && present.copiedPages < present.logPages
  }

  async function inPass(copied: Promise<Copied>): Promise<void> {
    pass = copied
    try {
      await copied
    } finally {
      pass = null
    }
  }

  /** As SQLite would have done itself, whose refusals nobody hears of either: of a full disk the next write tells. */
  async function copyHere(): Promise<void> {
    if (writer.isOpen) copiedHere.get()
  }

  function waitFor(present: Promise<unknown>): void {
    if (isWaitedFor) return
    isWaitedFor = true
    const over = () => {
      isWaitedFor = false
    }
    alone(async () => {
      await present
    }).then(over, over)
  }
}

/** Its heap costs as much memory as all that an idle server has to spare (docs/decisions/017). */
const idleMs = 3_000
const mostMs = 30_000

/** One thread, started when it is needed and ended when it was not for a while. */
export function createCopyingThread(
  path: string,
  start: (path: string) => Worker = startThread,
): CopyingThread {
  let worker: Worker | null = null
  let cancelEnd = () => {}
  const ending = new Set<Promise<unknown>>()

  return {
    async copy() {
      cancelEnd()
      const present = worker ?? begin()
      try {
        return await answerOf(present)
      } catch (error) {
        end()
        throw error
      } finally {
        cancelEnd = idleTimers.after(idleMs, end)
      }
    },
    async close() {
      cancelEnd()
      end()
      await Promise.all(ending)
    },
  }

  function begin(): Worker {
    const begun = start(path)
    worker = begun
    // Also while it is idle: it must not end the process.
    begun.on('error', () => {})
    begun.once('exit', () => {
      if (worker === begun) worker = null
    })
    return begun
  }

  function end(): void {
    if (!worker) return
    const ended: Promise<unknown> = worker.terminate().finally(() => ending.delete(ended))
    ending.add(ended)
    worker = null
  }
}

function startThread(path: string): Worker {
  return new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
    workerData: { path },
    resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
  })
}

function answerOf(worker: Worker): Promise<Copied> {
  const { promise, resolve, reject } = Promise.withResolvers<Copied>()
  const timer = setTimeout(() => reject(new Error(`No answer in ${mostMs} ms`)), mostMs).unref()
  const onMessage = ({ copied }: CheckpointAnswer) =>
    copied ? resolve(copied) : reject(new Error('SQLite refused'))
  const onExit = (code: number) => reject(new Error(`The thread ended with code ${code}`))
  worker.once('message', onMessage)
  worker.once('error', reject)
  worker.once('exit', onExit)
  worker.ref()
  worker.postMessage('copy')
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', onMessage)
    worker.off('error', reject)
    worker.off('exit', onExit)
    // An idle thread must not keep the process alive.
    worker.unref()
  })
}
