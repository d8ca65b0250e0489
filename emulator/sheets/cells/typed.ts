import type { EnteredValue } from '../model.ts'
import type { NumberFormat } from './number-format.ts'

/** What typing something into a cell makes of it. */
export interface Typed {
  value: EnteredValue
  /** The format typing gives to a cell that has none of its own. */
  format?: NumberFormat
}
