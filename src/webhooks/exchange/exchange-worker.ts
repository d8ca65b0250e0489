import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { exchange } from './exchange.ts'
import type { AskedExchange, ToldExchange } from './exchange-thread.ts'

/** The far side of `exchange-thread.ts`: any number of exchanges at a time. */
const underWay = new Map<number, AbortController>()
const niceness = 10

// On Linux 0 is the thread that asks; elsewhere it would be the whole process.
if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + niceness))

parentPort?.on('message', async (asked: AskedExchange) => {
  if ('ask' in asked) return parentPort?.postMessage({ answered: asked.ask } satisfies ToldExchange)
  const { id } = asked
  if (!('wish' in asked)) return underWay.get(id)?.abort()
  const leaving = new AbortController()
  underWay.set(id, leaving)
  const exchanged = await exchange(asked.wish, leaving.signal)
  underWay.delete(id)
  parentPort?.postMessage({ id, exchanged } satisfies ToldExchange)
})
