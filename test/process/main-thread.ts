import { existsSync, readFileSync } from 'node:fs'
import type { RunningServer } from './running.ts'

/** How long the main thread of a server has worked, and how long it could have and had no processor. Both 0 but on Linux. */
export function mainThreadOf({ child: { pid } }: Pick<RunningServer, 'child'>): {
  usedMs: number
  starvedMs: number
} {
  // Linux counts it in nanoseconds for each thread; the main one has the number of the process.
  const file = `/proc/${pid}/task/${pid}/schedstat`
  if (!existsSync(file)) return { usedMs: 0, starvedMs: 0 }
  const [used, starved] = readFileSync(file, 'utf8').split(' ')
  return { usedMs: Number(used) / 1e6, starvedMs: Number(starved) / 1e6 }
}
