import { ProviderFailure } from '../provider-failure.ts'
import type { SerialKind } from './serial-text.ts'
import { shownAs } from './shown-kind.ts'
import { cellsIn } from './values-body.ts'

/** Kinds by number, as `dates` has them. */
export const serialKinds: readonly SerialKind[] = ['date', 'date-time', 'time', 'elapsed']
/** Row, column, kind, and again: numbers only, so that a thread hands them over at no cost. */
export const numbersPerDate = 3

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
}

export function compareReads(serialBody: Uint8Array, shownBody: Uint8Array): Comparison {
  const serials = cellsIn(serialBody)
  const texts = cellsIn(shownBody)
  const dates: number[] = []
  let isDoubtful = false
  for (let row = 0; row < Math.max(serials.length, texts.length); row++) {
    const ofSerials = serials[row] ?? []
    const ofTexts = texts[row] ?? []
    for (let column = 0; column < Math.max(ofSerials.length, ofTexts.length); column++) {
      const serial = ofSerials[column] ?? ''
      const text = ofTexts[column] ?? ''
      if (serial === text) continue
      if (typeof serial !== 'number') return torn()
      if (typeof text === 'number' || text === '') {
        // RAND() and its kind change by themselves; a format may show nothing at all.
        isDoubtful = true
        continue
      }
      if (typeof text !== 'string') return torn()
      const shown = shownAs(serial, text)
      isDoubtful ||= !shown.isPlausible
      dates.push(row, column, serialKinds.indexOf(shown.kind))
    }
  }
  return { fit: isDoubtful ? 'doubtful' : 'exact', dates: Uint32Array.from(dates) }
}

/** A new one each time: its buffer is handed over. */
const torn = (): Comparison => ({ fit: 'torn', dates: new Uint32Array() })

/** Someone edits faster than we can read. */
export function tornRead(): ProviderFailure {
  return new ProviderFailure('the spreadsheet changed while it was read', {
    isPassing: true,
    retryAfterSeconds: 1,
  })
}
