import { Worker } from 'node:worker_threads'
import type { Exchanged, ExchangeWish } from './exchange.ts'

/**
 * A thread for connections to whoever the owners of webhooks name. Such a server says how it wants to be spoken with: with numbers of its
 * choice, a TLS handshake takes seconds of a processor, and these are not to be those of the thread that answers everybody.
 */
export interface ExchangeThread {
  /** Never throws. When `left` is aborted, nobody waits for it any more. */
  exchange(wish: ExchangeWish, left: AbortSignal): Promise<Exchanged>
  /** When it has heard this, or is gone: while it computes for somebody, it does not. */
  answered(): Promise<void>
  close(): Promise<void>
}

export type AskedExchange =
  | { id: number; wish: ExchangeWish }
  | { id: number; isLeft: true }
  | { ask: number }

export type ToldExchange = { id: number; exchanged: Exchanged } | { answered: number }

const script = new URL('./exchange-worker.ts', import.meta.url)
/** What it holds are messages on their way, and the beginnings of answers. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 }

export function createExchangeThread(): ExchangeThread {
  let worker: Worker | null = null
  let exchanges = 0
  const waiting = new Map<number, (exchanged: Exchanged) => void>()
  const asking = new Map<number, () => void>()

  return {
    exchange(wish, left) {
      const id = ++exchanges
      worker ??= start()
      const thread = worker
      const leave = () => thread.postMessage({ id, isLeft: true } satisfies AskedExchange)
      return new Promise((resolve) => {
        waiting.set(id, (exchanged) => {
          left.removeEventListener('abort', leave)
          resolve(exchanged)
        })
        left.addEventListener('abort', leave, { once: true })
        thread.ref()
        thread.postMessage({ id, wish } satisfies AskedExchange)
      })
    },
    answered() {
      const thread = worker
      if (!thread) return Promise.resolve()
      const ask = ++exchanges
      return new Promise((resolve) => {
        asking.set(ask, resolve)
        thread.postMessage({ ask } satisfies AskedExchange)
      })
    },
    async close() {
      await worker?.terminate()
    },
  }

  /** When the first message is to be sent: most servers never send one. */
  function start(): Worker {
    const thread = new Worker(script, { resourceLimits })
    thread.on('message', (told: ToldExchange) => {
      if ('answered' in told) {
        asking.get(told.answered)?.()
        asking.delete(told.answered)
        return
      }
      waiting.get(told.id)?.(told.exchanged)
      waiting.delete(told.id)
      // Whoever has nothing else to do, as a command that was carried out, need not wait for a thread that has not either.
      if (waiting.size === 0) thread.unref()
    })
    // The next message gets another one.
    thread.on('error', () => {})
    thread.on('exit', () => {
      if (worker === thread) worker = null
      for (const tell of waiting.values()) tell({ failure: 'it was broken off' })
      waiting.clear()
      for (const tell of asking.values()) tell()
      asking.clear()
    })
    return thread
  }
}
