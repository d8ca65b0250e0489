import type { FlooredFigure } from './floored.ts'
import type { Target } from './load.ts'

/** One line of the table. */
export type BenchRow = LoadRow | FigureRow

/** Something of ours under load, beside something that shows what could be had at best, or what others do. */
export interface LoadRow {
  kind: 'load'
  name: string
  /** Servers that it needs and that are not here; a row is skipped for want of them. */
  missing?: readonly string[]
  reference: string
  /** The ratio below which the run fails; 0 where the figure is only for the record. */
  floor: number
  start(): Promise<{ subject: Target; reference: Target; stop(): Promise<void> }>
}

/** What has no counterpart, or has it within its own measuring. */
export interface FigureRow {
  kind: 'figure'
  name: string
  missing?: readonly string[]
  measure(): Promise<Measured>
}

export interface Measured {
  /** All there is to know, line by line. */
  said: string
  /** What must be as good as its floor; none where a row is measured for itself. */
  floored: readonly FlooredFigure[]
}

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
