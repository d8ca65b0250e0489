import type { Change, ChangeResult, Unfit } from '../../sheets/change.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { maxRowBytes } from '../../sheets/rows/snapshot.ts'
import { columnsOf } from '../../sheets/rows/table.ts'

/**
 * Cells of one row that are under no column's name, in characters. It takes these to undo a change, and they are written to the log by the
 * thread that answers everybody; what columns hold is bounded when it is read.
 */
const mostBesideColumns = 512 * 1024
/** All rows of one batch together. */
const mostBesideTogether = 8 * 1024 * 1024
const charactersOfANumber = 8

/** The results without what nobody asks for, or the change that takes away more than can be kept to undo it. */
export function boundResults(
  results: readonly ChangeResult[],
  changes: readonly Change[],
  header: readonly Cell[],
): ChangeResult[] | Unfit {
  const isNamed: boolean[] = []
  for (const { index } of columnsOf({ rows: [[...header]] })) isNamed[index] = true
  const bounded: ChangeResult[] = []
  let together = 0
  for (const [changeAt, result] of results.entries()) {
    const characters = besideColumns(result)
    together += characters
    const change = changes[changeAt]
    if (characters > mostBesideColumns) {
      const row = change && change.kind !== 'add' ? `Row ${change.rowNumber}` : 'A row'
      const details = `${row} holds too much outside the columns that have a name in row 1; it would have to be kept to undo the change.`
      const advice = `Empty those cells, or give their columns a name: at most ${mostBesideColumns} characters of a row may be outside.`
      return { changeAt, reason: 'file', details, advice }
    }
    if (together > mostBesideTogether) {
      const details =
        'These rows hold too much outside the columns that have a name in row 1; it would have to be kept to undo the changes.'
      return { changeAt, reason: 'file', details, advice: 'Change fewer rows at a time.' }
    }
    bounded.push(asAsked(result))
  }
  return bounded

  /** For a row that stays, an undo needs what was written over and no more. */
  function asAsked(result: ChangeResult): ChangeResult {
    if (result.kind === 'update') return { ...result, row: namedCells(result.row) }
    return result.kind === 'add' ? { ...result, rows: result.rows.map(namedCells) } : result
  }

  function namedCells(row: readonly Cell[]): Cell[] {
    return row.slice(0, isNamed.length).map((cell, at) => (isNamed[at] ? cell : null))
  }

  function besideColumns(result: ChangeResult): number {
    const { times = [], spelling = '' } = result.lost ?? {}
    let characters = times.reduce((sum, [, format]) => sum + format.length, 0)
    // A row may be as long, and be spelt in as many.
    if (spelling.length > maxRowBytes) characters += spelling.length
    if (result.kind !== 'delete' && result.kind !== 'insert') return characters
    for (const [at, cell] of result.row.entries())
      if (!isNamed[at] && cell !== null)
        characters += typeof cell === 'string' ? cell.length : charactersOfANumber
    return characters
  }
}
