import type { FetchedRows } from '../../provider.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import { type IndexedSnapshot, positionOf, rowBytes, rowJson, type Snapshot } from '../../rows/snapshot.ts'
import { type Column, isBlank, servedColumnsOf } from '../../rows/table.ts'
import type { Logged, OperationHistory } from '../../sheet-log.ts'
import { findingInAll, type RowFinder } from './row-finder.ts'
import type { RowMarks } from './row-marks.ts'

/** The tab that orders are held against. */
export interface JudgedTab {
  columns: readonly Column[]
  version: string
  /** All of it was read, and held against what is logged of it. */
  isWhole: boolean
  /** The place in the log that has exactly these rows, where all of them were read; null where there is none. */
  logged?: Logged | null
  /** null where only the header was read: enough for additions. */
  rows: JudgedRows | null
  /** null where nothing was read that tells which rows hold what. */
  finder: RowFinder | null
  /** All rows with indexes, where an order may be about any of them. */
  indexed: IndexedSnapshot | null
  /** The histories of writes that are to be taken back, by name. */
  histories?: ReadonlyMap<string, OperationHistory | null>
  /** By which it can be told afterwards which rows a deletion took; absent where nothing was read that tells. */
  marks?: RowMarks
}

export interface JudgedRows {
  /** null where some rows alone were read, all of them before the end. */
  lastRowNumber: number | null
  /** Its JSON text; null when it is blank, or was not read. */
  json(rowNumber: number): string | null
  /** The length of that text, without making it. */
  bytes(rowNumber: number): number | null
  blankRowJson: string
  /** Whether readers may be shown something else of it (`json`) than was read. */
  isShownOtherwise(rowNumber: number): boolean
}

type IsShownOtherwise = (rowNumber: number, json: string | null) => boolean

export function wholeTab(
  { snapshot, version, logged = null }: { snapshot: Snapshot; version: string; logged?: Logged | null },
  indexed: IndexedSnapshot | null,
): JudgedTab {
  const { columns, lastRowNumber, blankRowJson } = snapshot
  const at = <T>(rowNumber: number, tell: (snapshot: Snapshot, position: number) => T): T | null => {
    const position = positionOf(snapshot, rowNumber)
    return position === null ? null : tell(snapshot, position)
  }
  return {
    columns,
    version,
    isWhole: true,
    logged,
    rows: {
      lastRowNumber,
      blankRowJson,
      json: (rowNumber) => at(rowNumber, rowJson),
      bytes: (rowNumber) => at(rowNumber, rowBytes),
      isShownOtherwise: () => false,
    },
    finder: indexed && findingInAll(indexed),
    indexed,
  }
}

export function someRows(
  { header, row, version }: FetchedRows,
  isShownOtherwise: IsShownOtherwise,
): JudgedTab {
  const columns = servedColumnsOf({ rows: [[...header]] })
  const toJson = createRowWriter(columns)
  const json = (rowNumber: number) => {
    const cells = row(rowNumber)
    return isBlank(cells) ? null : toJson(cells)
  }
  return {
    columns,
    version,
    isWhole: false,
    rows: {
      lastRowNumber: null,
      blankRowJson: toJson([]),
      json,
      isShownOtherwise: (rowNumber) => isShownOtherwise(rowNumber, json(rowNumber)),
      bytes(rowNumber) {
        const text = json(rowNumber)
        return text === null ? null : Buffer.byteLength(text)
      },
    },
    finder: null,
    indexed: null,
  }
}
