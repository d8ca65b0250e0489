import type { Cell } from '../grid.ts'
import type { ColumnIndexes } from '../query/columns/column-index.ts'
import { summariesOf } from '../query/columns/column-summary.ts'
import type { Column } from '../table.ts'
import { columnSchema, formattedSchema } from './column-schema.ts'
import { orderedJsonText } from './ordered-json.ts'

/**
 * What descriptions tell of a sheet's rows, as JSON text. It is made where the rows are, by the thread that indexes them:
 * on 2,000 columns it takes looking at each of them, from the top until three different cells are found.
 */
export interface RowDescription {
  /** `"a":{…},"b":{…}`: the schema of each column, without braces around them. */
  propertiesJson: string
  /** `"a","b"`, without brackets around them. */
  keysJson: string
  /** The first rows, with long texts shortened. */
  exampleRowsJson: string[]
}

const exampleRows = 2
const exampleCharacters = 100

export function describeRows(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indexes: ColumnIndexes,
  rowNumbers: Uint32Array,
  values: 'typed' | 'formatted',
): RowDescription {
  const schemaOf = values === 'formatted' ? formattedSchema : columnSchema
  const keys = columns.map(({ key }) => JSON.stringify(key))
  const schemas = summariesOf(columns, rows, indexes).map((summary) =>
    orderedJsonText(schemaOf(summary, rowNumbers)),
  )
  const emptyCell = values === 'formatted' ? '' : null
  return {
    propertiesJson: keys.map((key, at) => `${key}:${schemas[at]}`).join(','),
    keysJson: keys.join(','),
    exampleRowsJson: rows.slice(0, exampleRows).map((row) => {
      const cells = columns.map(({ index }) => JSON.stringify(shortened(row[index] ?? emptyCell)))
      return `{${keys.map((key, at) => `${key}:${cells[at]}`).join(',')}}`
    }),
  }
}

function shortened(cell: Cell): Cell {
  const isLong = typeof cell === 'string' && cell.length > exampleCharacters
  return isLong ? `${cell.slice(0, exampleCharacters)}…` : cell
}
