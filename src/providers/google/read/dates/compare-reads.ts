import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { cellsIn, rangesIn } from '../values-body.ts'
import { type OnCells, walkDifferences } from './differing-cells.ts'
import type { SerialKind } from './serial-text.ts'
import { shownAs } from './shown-kind.ts'

/** Kinds by number, as `dates` has them. */
export const serialKinds: readonly SerialKind[] = ['date', 'date-time', 'time', 'elapsed']
/** Row, column, kind, and again: numbers only, so that a thread hands them over at no cost. */
export const numbersPerDate = 3
const noDate = -1

/**
 * Two reads of one tab, with dates as numbers and with dates as texts, laid over each other: where one has a number
 * and the other a text, there is a date.
 */
export interface Comparison {
  /**
   * 'torn': the two cannot be of the same moment. 'doubtful': they may be, but a number changed, or a text has
   * nothing of the date it should show.
   */
  fit: 'exact' | 'doubtful' | 'torn'
  dates: Uint32Array<ArrayBuffer>
  /** Columns with numbers that the read with texts does not have: of those nothing is known. */
  uncovered: number[]
}

export function compareReads(serialBody: Uint8Array, shownBody: Uint8Array): Comparison {
  const walked = createJudging()
  if (walkDifferences(serialBody, shownBody, walked)) return walked.comparison()
  const parsed = createJudging()
  parseDifferences(serialBody, shownBody, parsed)
  return parsed.comparison()
}

function createJudging(): OnCells & { comparison(): Comparison } {
  const dates: number[] = []
  /** The kind of each difference that was told, in their order. */
  const kinds: number[] = []
  let isDoubtful = false
  const uncovered = new Set<number>()
  let isTorn = false

  return {
    onDifference(row, column, serial, text) {
      if (typeof serial !== 'number' || typeof text === 'boolean') {
        isTorn = true
        return false
      }
      if (typeof text === 'number' || text === '') {
        // RAND() and its kind change by themselves; a format may show nothing at all.
        isDoubtful = true
        kinds.push(noDate)
        return true
      }
      const shown = shownAs(serial, text)
      const kind = serialKinds.indexOf(shown.kind)
      isDoubtful ||= !shown.isPlausible
      kinds.push(kind)
      dates.push(row, column, kind)
      return true
    },
    onRepeated(row, column, nth) {
      const kind = kinds[nth] ?? noDate
      if (kind !== noDate) dates.push(row, column, kind)
    },
    onUncovered: (column) => void uncovered.add(column),
    comparison() {
      // A new array each time: its buffer is handed over.
      if (isTorn) return { fit: 'torn', dates: new Uint32Array(), uncovered: [] }
      return {
        fit: isDoubtful ? 'doubtful' : 'exact',
        dates: new Uint32Array(dates),
        uncovered: [...uncovered],
      }
    },
  }
}

/** Finds differences also where one has more rows or cells than the other: Google leaves out what is empty at the end. */
function parseDifferences(
  serialBody: Uint8Array,
  shownBody: Uint8Array,
  { onDifference, onUncovered }: Pick<OnCells, 'onDifference' | 'onUncovered'>,
): void {
  const serials = cellsIn(serialBody)
  const shown = rangesIn(shownBody)
  const rows = Math.max(serials.length, ...shown.map((range) => range.rows.length))
  for (let row = 0; row < rows; row++) {
    const ofSerials = serials[row] ?? []
    const columns = Math.max(
      ofSerials.length,
      ...shown.map((range) => range.from + (range.rows[row]?.length ?? 0)),
    )
    for (let column = 0; column < columns; column++) {
      const serial = ofSerials[column] ?? ''
      const range = shown.find(({ from, to }) => column >= from && column < to)
      if (!range) {
        if (typeof serial === 'number') onUncovered(column)
        continue
      }
      const text = range.rows[row]?.[column - range.from] ?? ''
      if (serial !== text && !onDifference(row, column, serial, text)) return
    }
  }
}

/** Someone edits faster than we can read. */
export function tornRead(): ProviderFailure {
  return new ProviderFailure('the spreadsheet changed while it was read', {
    isPassing: true,
    retryAfterSeconds: 1,
  })
}
