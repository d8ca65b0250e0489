import type { Cell } from '../../../sheets/rows/grid.ts'
import { type CsvDialect, delimiterOfHeader } from './dialect.ts'
import { readRecord } from './record.ts'
import type { CsvRecordList } from './record-list.ts'

/**
 * All that has to be known of a CSV file to add rows to it: they come behind its last byte, and are written there as they would be
 * behind its headers alone.
 */
export interface CsvEnd {
  /** Row 1 as it is written, without its line end. */
  header: string
  newline: string
  /** How many records there are; the last one has data. */
  records: number
}

const longestHeader = 64 * 1024

/** null where it is not so: for example because the file ends with blank rows, which stay below new ones, or without a line end. */
export function endOf(
  records: CsvRecordList,
  { delimiter, newline, encoding }: CsvDialect,
  text: string,
): CsvEnd | null {
  const count = records.originalCount
  if (encoding !== 'utf-8' || newline === '\r' || !text.endsWith('\n')) return null
  if (count === 0 || records.lastWithData !== count) return null
  const end = { header: records.original(1), newline, records: count }
  if (end.header.length > longestHeader || delimiterOfHeader(end.header) !== delimiter) return null
  return headerCells(end).every((cell) => cell === null) ? null : end
}

/** Row 1 as it is read. */
export function headerCells({ header }: Pick<CsvEnd, 'header'>): Cell[] {
  return readRecord(header, delimiterOfHeader(header) ?? ',')
}
