import type { Target } from './load.ts'

/** One line of the table. */
export type BenchRow = LoadRow | FigureRow

/** Something of ours under load, beside something that shows what could be had at best. */
export interface LoadRow {
  kind: 'load'
  name: string
  reference: string
  /** The ratio below which the run fails; 0 where the figure is only for the record. */
  floor: number
  start(): Promise<{ subject: Target; reference: Target; stop(): Promise<void> }>
}

/** A figure without a counterpart. */
export interface FigureRow {
  kind: 'figure'
  name: string
  measure(): Promise<string>
}
