import type { Cell } from '../grid.ts'
import type { ColumnIndexes } from '../query/columns/column-index.ts'
import { type ColumnSummary, summariesOf } from '../query/columns/column-summary.ts'
import type { StaleColumn } from '../stale-results.ts'
import type { Column } from '../table.ts'
import { type ColumnFacts, columnSchema, formattedSchema, writtenSchema } from './column-schema.ts'
import { type OrderedJson, orderedJsonText } from './ordered-json.ts'

/**
 * What descriptions tell of a sheet's rows, as JSON text. It is made where the rows are, by the thread that indexes them:
 * on 2,000 columns it takes looking at each of them, from the top until three different cells are found.
 */
export interface RowDescription {
  /** `"a":{…}` for each column: its name and schema. */
  propertiesJson: string[]
  /** Properties of a row that is written: each column may be empty, and has no examples. */
  writtenPropertiesJson: string[]
  /** `"a"` for each column. */
  keysJson: string[]
  /** The cells of the first rows, a text for each column, with long ones shortened. */
  exampleRowsJson: string[][]
}

const exampleRows = 2
const exampleCharacters = 100

export function describeRows(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indexes: ColumnIndexes,
  facts: { rowNumbers: Uint32Array; stale: readonly StaleColumn[] },
  values: 'typed' | 'formatted',
): RowDescription {
  const schemaOf = values === 'formatted' ? formattedSchema : columnSchema
  const keys = columns.map(({ key }) => JSON.stringify(key))
  const staleByKey = new Map(facts.stale.map((column) => [column.key, column]))
  const factsOf = (at: number) => ({
    rowNumbers: facts.rowNumbers,
    stale: staleByKey.get(columns[at]?.key ?? ''),
  })
  const summaries = summariesOf(columns, rows, indexes)
  const propertiesJson = (of: (summary: ColumnSummary, facts: ColumnFacts) => OrderedJson) =>
    summaries.map((summary, at) => `${keys[at]}:${orderedJsonText(of(summary, factsOf(at)))}`)
  const emptyCell = values === 'formatted' ? '' : null
  return {
    propertiesJson: propertiesJson(schemaOf),
    writtenPropertiesJson: propertiesJson(writtenSchema),
    keysJson: keys,
    exampleRowsJson: rows
      .slice(0, exampleRows)
      .map((row) => columns.map(({ index }) => JSON.stringify(shortenExample(row[index] ?? emptyCell)))),
  }
}

function shortenExample(cell: Cell): Cell {
  const isLong = typeof cell === 'string' && cell.length > exampleCharacters
  // An example must be good to send, and half of a character is not.
  return isLong ? `${cell.slice(0, exampleCharacters).replace(/[\ud800-\udbff]$/, '')}…` : cell
}
