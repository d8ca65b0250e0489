import type { Cell, Grid } from '../../../sheets/rows/grid.ts'
import { numbersPerDate, serialKinds } from './dates/compare-reads.ts'
import { createSerialTexts } from './dates/serial-text.ts'
import { type GoogleCell, isCell, notValues, rowsIn } from './values-body.ts'

export interface GoogleDecodeOptions {
  values: 'typed' | 'formatted'
  /** Where numbers are dates (`compareReads`). */
  dates: Uint32Array
}

/** Runs in a worker: an answer of Google as rows. */
export function decodeGoogleValues(bytes: Uint8Array, options: unknown): Grid {
  const { values, dates } = options as GoogleDecodeOptions
  const rows = rowsIn(bytes)
  const textOf = createSerialTexts()
  for (let at = 0; at < dates.length; at += numbersPerDate) {
    const row = rows[dates[at] ?? 0]
    const column = dates[at + 1] ?? 0
    const serial = row?.[column]
    const kind = serialKinds[dates[at + 2] ?? 0]
    if (row && typeof serial === 'number' && kind) row[column] = textOf(serial, kind)
  }
  for (const row of rows) {
    for (let column = 0; column < row.length; column++) {
      const cell = row[column]
      if (cell === '') row[column] = null
      else if (typeof cell !== 'string') {
        if (!isCell(cell)) throw notValues()
      } else if (values === 'typed' && cell.charCodeAt(0) === hash) row[column] = shortError(cell)
    }
  }
  return { rows: rows as Cell[][] }
}

/** A cell of Google's as clients see it, but for dates. */
export function servedCell(cell: GoogleCell, values: GoogleDecodeOptions['values']): Cell {
  if (cell === '') return null
  return typeof cell === 'string' && values === 'typed' ? shortError(cell) : cell
}

const hash = 0x23
/** `#DIV/0! (Function DIVIDE parameter 2 cannot be zero.)` */
const errorWithReason = /^(#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A|ERROR!)) \(.*\)$/s

/**
 * An error cell is its short text (docs/contract.md#values). A text that a person typed in exactly this form is cut as
 * well.
 */
export function shortError(text: string): string {
  return text.charCodeAt(0) === hash ? (errorWithReason.exec(text)?.[1] ?? text) : text
}
