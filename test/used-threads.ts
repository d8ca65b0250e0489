import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { ThreadSource } from '../src/sheets/threads/threads.ts'

const idle = new Map<string, Worker[]>()
const kinds = new WeakMap<Worker, string>()

/**
 * Threads that the next server of the same test file goes on with, as one server goes on with its own: a test file starts a server
 * for each of its tests, and a thread that has loaded all it needs was a quarter of what such a test costs.
 */
export const usedThreads: ThreadSource = {
  start(script, options) {
    const kind = kindOf(script, options)
    const used = idle.get(kind)?.pop()
    if (used) return used
    const worker = new Worker(script, options)
    kinds.set(worker, kind)
    return worker
  },
  async takeBack(worker): Promise<void> {
    const kind = kinds.get(worker)
    if (kind === undefined) {
      await worker.terminate()
      return
    }
    // Those of the server that is gone.
    for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
    const others = idle.get(kind) ?? []
    idle.set(kind, others)
    others.push(worker)
    worker.once('exit', () => others.splice(0, others.length, ...others.filter((other) => other !== worker)))
  },
}

function kindOf(script: URL, { resourceLimits, workerData }: WorkerOptions): string {
  return JSON.stringify([script, resourceLimits, workerData])
}
