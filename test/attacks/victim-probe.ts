import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Neighbourhood } from './neighbourhood.ts'
import type { Probed, ProbeTask } from './victim-probe-thread.ts'

export interface VictimProbe {
  stop(): Promise<VictimFigures>
}

/** What the victim noticed meanwhile. */
export interface VictimFigures {
  cachedReads: number
  cachedP50Ms: number
  cachedP99Ms: number
  cachedMaxMs: number
  /** Of a server beside it that does nothing but answer: as long as that takes, nobody is heard on this machine. */
  bareP50Ms: number
  bareP99Ms: number
  bareMaxMs: number
  firstReads: number
  firstMaxMs: number
  /** Whatever was no 200, by what it was instead. */
  failures: Record<string, number>
  mostResidentMb: number
}

/**
 * Asks from a thread of its own, so that what the attack costs here is not taken for what the victim waits. Resolves when it
 * has begun.
 */
export async function probeVictim({ server, victim }: Neighbourhood): Promise<VictimProbe> {
  const bare = fork(new URL('./bare-neighbour.ts', import.meta.url))
  const [barePort] = (await once(bare, 'message')) as [number]
  const task: ProbeTask = { ...victim, port: server.port, pid: server.child.pid ?? 0, barePort }
  const worker = new Worker(new URL('./victim-probe-thread.ts', import.meta.url), { workerData: task })
  await once(worker, 'message')
  return {
    async stop() {
      const probed = once(worker, 'message')
      worker.postMessage('stop')
      const [{ cachedMs, bareMs, firstMs, failures, mostResidentMb }] = (await probed) as [Probed]
      await worker.terminate()
      bare.disconnect()
      const sorted = cachedMs.toSorted((one, other) => one - other)
      const sortedBare = bareMs.toSorted((one, other) => one - other)
      return {
        cachedReads: sorted.length,
        cachedP50Ms: quantile(sorted, 0.5),
        cachedP99Ms: quantile(sorted, 0.99),
        cachedMaxMs: sorted.at(-1) ?? 0,
        bareP50Ms: quantile(sortedBare, 0.5),
        bareP99Ms: quantile(sortedBare, 0.99),
        bareMaxMs: sortedBare.at(-1) ?? 0,
        firstReads: firstMs.length,
        firstMaxMs: Math.max(0, ...firstMs),
        failures,
        mostResidentMb,
      }
    },
  }
}

export function inWords(figures: VictimFigures): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const failures = Object.entries(figures.failures).map(([what, count]) => `${count} × ${what}`)
  return (
    `${figures.cachedReads} cached reads p50 ${ms(figures.cachedP50Ms)}, p99 ${ms(figures.cachedP99Ms)}, ` +
    `longest ${ms(figures.cachedMaxMs)} (a bare server: ${ms(figures.bareP50Ms)}, ${ms(figures.bareP99Ms)}, ` +
    `${ms(figures.bareMaxMs)}); ${figures.firstReads} first reads, longest ${ms(figures.firstMaxMs)}; ` +
    `failed: ${failures.join(', ') || 'none'}; resident at most ${figures.mostResidentMb.toFixed(0)} MB`
  )
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
