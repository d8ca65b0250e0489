import { type Codes, indexedColumn } from '../query/columns/column-index.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { rowsPerStep } from './group-rows.ts'

/** Cells of a column that functions leave out because they do not fit; each is counted once, however many do. */
export interface LeftOut {
  /** What is left out depends on the kind of function and on the cell alone. */
  note(column: number, by: FunctionKind, cells: number, isLeftOut: IsLeftOut): void
  /** By column of the sheet. */
  counted(positions: Uint32Array): Generator<void, Map<number, number>>
}

const codesPerStep = 16_384

type FunctionKind = 'of numbers' | 'of dates' | 'of an order'
/** Asks about a cell by its code; the empty one is never asked for. */
type IsLeftOut = (code: number) => boolean

export function createLeftOut(snapshot: IndexedSnapshot): LeftOut {
  const noted = new Map<number, Map<FunctionKind, { cells: number; isLeftOut: IsLeftOut }>>()
  return {
    note(column, by, cells, isLeftOut) {
      if (cells === 0) return
      const known = noted.get(column) ?? new Map()
      noted.set(column, known.set(by, { cells, isLeftOut }))
    },
    *counted(positions) {
      const counts = new Map<number, number>()
      for (const [column, byKind] of noted) {
        const [first, ...others] = byKind.values()
        if (!first) continue
        counts.set(column, others.length === 0 ? first.cells : yield* union(column, [first, ...others]))
      }
      return counts

      function* union(column: number, all: readonly { isLeftOut: IsLeftOut }[]): Generator<void, number> {
        const { codes, emptyCode } = indexedColumn(snapshot, column)
        const isOut = new Uint8Array(emptyCode + 1)
        for (let code = 0; code < emptyCode; code++) {
          isOut[code] = Number(all.some(({ isLeftOut }) => isLeftOut(code)))
          if (code % codesPerStep === 0) yield
        }
        let count = 0
        for (let from = 0; from < positions.length; from += rowsPerStep) {
          count += countOut(positions, codes, isOut, from, Math.min(from + rowsPerStep, positions.length))
          yield
        }
        return count
      }
    },
  }
}

function countOut(positions: Uint32Array, codes: Codes, isOut: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) count += isOut[codes[positions[at] as number] as number] as number
  return count
}
