import type { Refusal } from '../../../errors.ts'
import type { Filter } from '../query/query.ts'
import type { Column } from '../table.ts'

/**
 * What of a sheet somebody may read. The part is made into rows of its own before anything is asked of it, so whatever answers
 * a question, describes, counts or names the rows cannot know the rest.
 */
export interface RowsView {
  /** No other view has this name. */
  name: string
  /** In the sheet as it is now; a refusal where it lacks what the view rests on. */
  partOf(columns: readonly Column[], values: 'typed' | 'formatted'): ViewedPart | Refusal
}

export interface ViewedPart {
  /** Positions among the columns, ascending. */
  columns: readonly number[]
  /** On all columns, those that are not in the view among them. */
  filters: readonly Filter[]
}
