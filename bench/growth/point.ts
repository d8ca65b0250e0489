/** Where accounts, keys and limits are kept: the embedded default, or PostgreSQL with Redis beside it. */
export const storeKinds = ['embedded', 'shared'] as const
export type StoreKind = (typeof storeKinds)[number]

/** One thing that was asked at one size. */
export interface Point {
  /** How many rows, columns, sheets and so on there were. */
  at: number
  request: string
  perSecond: number
  /** Processor time of the server for each request, all its threads. */
  cpuMicroseconds: number
  /** Processor time of PostgreSQL and Redis for each request; null where there are none. */
  storeCpuMicroseconds: number | null
  /** What the server holds resident afterwards. */
  residentMb: number
  p50Ms: number
  p99Ms: number
  /** How many 503 there were for each that was done, where clients were told to come again. */
  refusals?: number
}

/** One thing of which there is ever more, by factors of ten, while all the rest stays the same. */
export interface Axis {
  name: string
  /** What `at` counts, for people. */
  unit: string
  /** What is asked and what an operator has set for it, in a line. */
  about: string
  /** The requests that the picture shows. */
  drawn: readonly string[]
  /** Yields points as they are measured, so that a run that breaks off leaves those before it. */
  measure(
    store: StoreKind,
    after: (end: () => Promise<void>) => void,
    wish: MeasureWish,
  ): AsyncGenerator<Point>
}

export interface MeasureWish {
  /** How long each load lasts. */
  seconds: number
  /** Sizes below and above are left out. */
  from: number
  to: number
}

/** The usual way through a list of latencies; sorts them. */
export function percentiles(latenciesMs: number[]): { p50Ms: number; p99Ms: number } {
  latenciesMs.sort((one, other) => one - other)
  const at = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

export function powersOfTen(first: number, last: number, { from, to }: MeasureWish): number[] {
  const powers: number[] = []
  for (let power = first; power <= Math.min(last, to); power *= 10) if (power >= from) powers.push(power)
  return powers
}
