import { type CellKind, columnKindsOf } from '../../sheets/rows/query/columns/column-summary.ts'
import type { IndexedSnapshot } from '../../sheets/rows/snapshot.ts'

const typeOf: Record<CellKind, string> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  string: 'string',
  date: 'string',
  'date-time': 'string',
  time: 'string',
}

/** For each column the TypeScript type of the cells that it holds now. */
export function columnTypesOf(snapshot: IndexedSnapshot): string[] {
  return columnKindsOf(snapshot).map(({ kinds, hasEmptyCells }) => {
    if (kinds.length === 0) return 'string | number | boolean | null'
    const types = [...new Set(kinds.map((kind) => typeOf[kind]))]
    return [...types, ...(hasEmptyCells ? ['null'] : [])].join(' | ')
  })
}
