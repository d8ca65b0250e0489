import type { Change } from '../../../sheets/change.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isSameRow, notAsAsked } from '../reading-back.ts'
import { type CsvDialect, detectDelimiter } from './dialect.ts'
import type { SingleByteEncoding } from './encoding/single-byte.ts'
import { readRecord } from './record.ts'
import { CsvRecordList } from './record-list.ts'
import { readCsvText } from './text.ts'

/**
 * Reads the new bytes as any reader would, and throws unless they hold the records that were there, each to the letter,
 * and the rows of the changes. One pass over the new text: what stays is compared as text, and not cell by cell. Returns the records
 * as they are read.
 */
export function refuseUnlessReadBack(
  former: CsvRecordList,
  dialect: CsvDialect,
  changes: readonly Change[],
  bytes: Uint8Array,
  otherwise?: SingleByteEncoding,
): CsvRecordList {
  const { delimiter } = dialect
  const { text, hasBom } = readCsvText(bytes, otherwise)
  if (hasBom !== dialect.hasBom) throw notAsAsked('the byte order mark is another')
  if (detectDelimiter(text) !== delimiter) throw notAsAsked('the delimiter is another')
  const now = new CsvRecordList(text, dialect)
  const expected = expectedRecords(former, changes, (raw) => readRecord(raw, delimiter))
  const isKept = (record: Expected | undefined, rowNumber: number): boolean => {
    if (record === undefined) return false
    const raw = now.original(rowNumber)
    return typeof record === 'number'
      ? raw === former.original(record)
      : isSameRow(readRecord(raw, delimiter), record)
  }
  if (now.originalCount !== expected.length) throw notAsAsked('the number of records is another')
  for (let rowNumber = 1; rowNumber <= now.originalCount; rowNumber++) {
    if (!isKept(expected[rowNumber - 1], rowNumber)) throw notAsAsked(`record ${rowNumber} is another`)
  }
  return now
}

/** The number that a record had, or the cells of one that was written. */
type Expected = number | Cell[]

/** The changes made to a plain list, one after the other. */
function expectedRecords(
  former: CsvRecordList,
  changes: readonly Change[],
  read: (raw: string) => Cell[],
): Expected[] {
  const records: Expected[] = Array.from({ length: former.originalCount }, (_, at) => at + 1)
  const cellsOf = (record: Expected): Cell[] =>
    typeof record === 'number' ? read(former.original(record)) : record
  for (const change of changes) {
    if (change.kind === 'delete') records.splice(change.rowNumber - 1, 1)
    else if (change.kind === 'add') {
      let last = records.length
      while (last > 0 && cellsOf(records[last - 1] ?? []).every((cell) => cell === null)) last--
      records.splice(last, 0, ...change.rows.map((row) => row.map(asRead)))
    } else if (change.kind === 'insert') {
      const cells: Cell[] = []
      for (const { columnIndex, value } of change.cells) cells[columnIndex] = asRead(value)
      while (records.length < change.rowNumber - 1) records.push([])
      records.splice(
        change.rowNumber - 1,
        change.isFilling ? 1 : 0,
        Array.from(cells, (cell) => cell ?? null),
      )
    } else {
      const cells = [...cellsOf(records[change.rowNumber - 1] ?? [])]
      for (const { columnIndex, value } of change.cells) {
        while (cells.length < columnIndex) cells.push(null)
        cells[columnIndex] = asRead(value)
      }
      records[change.rowNumber - 1] = cells
    }
  }
  return records
}

/** An empty text is an empty cell, and there is one zero. */
function asRead(cell: Cell): Cell {
  if (cell === '') return null
  return cell === 0 ? 0 : cell
}
