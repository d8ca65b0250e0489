import type { Taker } from '../../shares/taker.ts'
import type { ReadSheet } from '../../sheets/reading/reading.ts'
import { keyColumnState } from '../../sheets/rows/find/key-column-state.ts'
import type { Querying } from '../../sheets/rows/query/querying.ts'
import { positionOfColumn } from '../../sheets/rows/table.ts'
import { type Soon, then } from '../../soon.ts'

/**
 * What people did in the spreadsheet that the key column does not allow: rows are served all the same, and whoever reads them is
 * told. Only letters that a header can have, so no names.
 */
export function warningOfKeys(
  keyColumn: string | null,
  { snapshot, indexed }: ReadSheet,
  values: 'typed' | 'formatted',
  taker: Taker,
  querying: Querying,
): Soon<string | null> {
  // As displayed, different keys may look alike.
  if (keyColumn === null || values === 'formatted') return null
  const position = positionOfColumn(snapshot.columns, keyColumn)
  if (position === null) return 'The key column of this sheet is no longer in row 1.'
  const looked = then(indexed, (ready) => querying.runSteps(taker, 0, () => keyColumnState(ready, position)))
  return then(looked, ({ blanks, blankRows, repeats, repeatRows }) => {
    const sentences = [
      ...(blanks > 0 ? [`Rows without a key: ${listRows(blanks, blankRows)}.`] : []),
      ...(repeats > 0 ? [`Rows with a key that another row has too: ${listRows(repeats, repeatRows)}.`] : []),
    ]
    return sentences.length === 0 ? null : sentences.join(' ')
  })
}

function listRows(count: number, shown: readonly number[]): string {
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`
}
