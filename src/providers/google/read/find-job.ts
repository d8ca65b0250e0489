import type { FoundCell, FoundInColumn } from '../../../sheets/provider.ts'
import { cellMark } from '../../../sheets/rows/find/cell-mark.ts'
import { createEqualityTest } from '../../../sheets/rows/find/equal-cells.ts'
import type { Handed } from '../../../sheets/threads/thread-jobs.ts'
import type { ToFind } from './google-comparing.ts'
import { shortError } from './google-decode.ts'
import { cellsIn } from './values-body.ts'

/** The far side of `google-comparing.ts`: the values of one column in, and back with where some of them are. */
export function findCells({ body, values, isMarked }: ToFind): Handed<FoundInColumn> {
  const placesOf = createEqualityTest(values)
  const cells: FoundCell[][] = values.map(() => [])
  const rows = cellsIn(body)
  const marks = isMarked ? new Float64Array(Math.max(0, rows.length - 1)) : null
  for (let at = 1; at < rows.length; at++) {
    const [given = ''] = rows[at] ?? []
    if (given === '') continue
    const cell = typeof given === 'string' ? shortError(given) : given
    if (marks) marks[at - 1] = cellMark(cell)
    for (const place of placesOf(cell)) cells[place]?.push({ rowNumber: at + 1, cell })
  }
  const [header = ''] = rows[0] ?? []
  const reply = { header: header === '' ? null : header, cells, ...(marks && { marks }) }
  return { reply, handOver: marks ? [marks.buffer] : [] }
}
