/**
 * A number for each row of a sheet, of the last query that gave it back: memory that is new for each query makes the collector run
 * every few of them.
 */
export interface SpareRows<T> {
  /** What it holds is left from before. */
  take(rows: number): T
  /** When nothing is looked up in it any more. A part of what was taken is as good. */
  returnSpare(taken: T): void
}

/** More than this is not kept. */
const mostSpareRows = 2 ** 20

export function createSpareRows<T extends Int32Array | Uint32Array>(
  numbers: new (rowsOrBuffer: number | ArrayBufferLike) => T,
): SpareRows<T> {
  let spare: T | null = null
  return {
    take(rows) {
      const taken = spare
      if (taken === null || taken.length < rows) return new numbers(rows)
      spare = null
      return taken.subarray(0, rows) as T
    },
    returnSpare({ buffer }) {
      const whole = new numbers(buffer)
      if (whole.length <= mostSpareRows && whole.length > (spare?.length ?? 0)) spare = whole
    },
  }
}
