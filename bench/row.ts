import type { Target } from './load.ts'

/** One line of the table. */
export type BenchRow = LoadRow | FigureRow

/** Something of ours under load, beside something that shows what could be had at best, or what others do. */
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
  /** Throws `Missed` where a figure is beyond what it may be. */
  measure(): Promise<string>
}

/** What was measured is not good enough: the run goes on, and fails. */
export class Missed extends Error {}

/** Starts things that must be ended, whatever comes in between. */
export async function withEnds<T>(
  work: (after: (end: () => Promise<void>) => void) => Promise<T>,
): Promise<T> {
  const ends: (() => Promise<void>)[] = []
  try {
    return await work((end) => void ends.push(end))
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

export function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? Number.NaN
}
