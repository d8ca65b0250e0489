import type { Target } from './load.ts'

/** One line of the table: something of ours, beside something that shows what could be had at best. */
export interface BenchRow {
  name: string
  reference: string
  /** The ratio below which the run fails. */
  floor: number
  start(): Promise<{ subject: Target; reference: Target; stop(): Promise<void> }>
}
