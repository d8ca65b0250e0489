import { isAscii } from 'node:buffer'
import type { Change, ChangeResult, Edited, LostWithChange, Unfit } from '../../../sheets/change.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import type { Cell } from '../../../sheets/rows/grid.ts'
import { isRepresentableInCsv, whyUnfitForCsv } from './cell.ts'
import { type CsvEnd, endOf, headerCells } from './csv-end.ts'
import { type CsvDialect, detectDelimiter, detectDialect } from './dialect.ts'
import type { SingleByteEncoding } from './encoding/single-byte.ts'
import { refuseUnlessReadBack } from './read-back.ts'
import { asSpelt, readRecord, spellingOf, updateRecord, writeRecord } from './record.ts'
import { CsvRecordList } from './record-list.ts'
import { type CsvEncoding, readCsvText, writeCsvText } from './text.ts'

/**
 * Makes these changes to the file one after the other, or names the change that cannot be made. Fields that no change
 * names keep their text, records their line ends. A cell without a column is a programming error. `otherwise` as for
 * `readCsvText`.
 */
export function editCsv(
  bytes: Uint8Array,
  changes: readonly Change[],
  otherwise?: SingleByteEncoding,
): EditedCsv | Unfit {
  if (changes.length === 0) return { bytes, results: [], header: [] }
  const { text, hint, encoding, hasBom } = readCsvText(bytes, otherwise)
  const dialect = detectDialect({ text, encoding, hasBom })
  const records = new CsvRecordList(text, dialect)
  const made = makeChanges(records, dialect, changes)
  if ('reason' in made) return made
  if (detectDelimiter(made.text) !== dialect.delimiter) {
    const changeAt = firstToConfuse(text, dialect, changes)
    return { changeAt, reason: 'file', details: UNCLEAR_DELIMITER }
  }
  const edited = writeCsvText({ text: made.text, ...(hint && { hint }), encoding, hasBom })
  if (!isStillRead(edited, dialect, otherwise)) {
    return { changeAt: 0, reason: 'file', details: UNCLEAR_ENCODING }
  }
  const now = refuseUnlessReadBack(records, dialect, changes, edited, otherwise)
  const end = hint === undefined ? endOf(now, dialect, made.text) : null
  const header = readRecord(records.raw(1), dialect.delimiter)
  return {
    ...{ bytes: edited, results: made.results, header },
    ...(end && { known: { header: headerCells(end), end } }),
  }
}

export interface EditedCsv extends Edited {
  /** Row 1. */
  header: Cell[]
  /** Absent where more of the file must be known to add rows to it. */
  known?: { header: Cell[]; end: CsvEnd }
}

const UNCLEAR_DELIMITER =
  'With this change it would not be clear which character separates the columns of the CSV file; ' +
  'put quotes (") around cells that contain a comma, semicolon, tab, bar or quote.'

const UNCLEAR_ENCODING =
  'With this change it would no longer be clear that the CSV file is in windows-1252; save it as "CSV UTF-8", ' +
  'or name its encoding in the settings of the sheet.'

/** What a file is in may be told by its bytes, and the change brings others. ASCII alone is the same in all of them. */
function isStillRead(
  bytes: Uint8Array,
  { encoding }: CsvDialect,
  otherwise: SingleByteEncoding | undefined,
): boolean {
  if (encoding !== 'windows-1252' || otherwise !== undefined) return true
  try {
    return readCsvText(bytes).encoding === encoding || isAscii(bytes)
  } catch (error) {
    if (error instanceof ProviderFailure) return false
    throw error
  }
}

interface Made {
  text: string
  results: ChangeResult[]
}

function makeChanges(records: CsvRecordList, dialect: CsvDialect, changes: readonly Change[]): Made | Unfit {
  const editor = createEditor(records, dialect)
  const results: ChangeResult[] = []
  for (const [changeAt, change] of changes.entries()) {
    const result = editor.make(change)
    if ('reason' in result) return { changeAt, ...result }
    results.push(result)
  }
  return { text: editor.toText(), results }
}

interface CsvEditor {
  make(change: Change): ChangeResult | Omit<Unfit, 'changeAt'>
  toText(): string
}

function createEditor(records: CsvRecordList, { delimiter, encoding }: CsvDialect): CsvEditor {
  let last = records.lastWithData
  let { columns } = records
  const rowAt = (rowNumber: number): Cell[] => readRecord(records.raw(rowNumber), delimiter)

  /** Blank rows at the end do not count, whatever made them blank. */
  function passBlankRows(): void {
    while (last > 0 && rowAt(last).every((cell) => cell === null)) last--
  }

  function add(rows: readonly (readonly Cell[])[]): ChangeResult {
    columns ||= rows.reduce((widest, row) => Math.max(widest, row.length), 0)
    const written = rows.map((row) => writeRecord(row, columns, delimiter))
    // Blank records at the end stay as they are, below the new ones.
    records.insertAfter(last, written)
    const rowNumbers = rows.map((_, at) => last + 1 + at)
    last += rows.length
    passBlankRows()
    return { kind: 'add', rowNumbers, rows: written.map((raw) => readRecord(raw, delimiter)) }
  }

  function insert({
    rowNumber,
    cells,
    spelling,
    isFilling,
  }: Extract<Change, { kind: 'insert' }>): ChangeResult {
    const row: Cell[] = []
    for (const { columnIndex, value } of cells) row[columnIndex] = value
    const filled = Array.from(row, (cell) => cell ?? null)
    columns ||= filled.length
    const raw = asSpelt(spelling, filled, delimiter) ?? writeRecord(filled, columns, delimiter)
    const missing = Math.max(0, rowNumber - 1 - records.count)
    records.insertAfter(records.count, Array<string>(missing).fill(writeRecord([], columns, delimiter)))
    if (isFilling && rowNumber <= records.count) records.replace(rowNumber, raw)
    else records.insertAfter(rowNumber - 1, [raw])
    if (rowNumber <= last && !isFilling) last++
    else if (filled.some((cell) => cell !== null)) last = rowNumber
    return { kind: 'insert', row: rowAt(rowNumber) }
  }

  function lostWithRecord(raw: string): { lost?: LostWithChange } {
    const spelling = spellingOf(raw, columns, delimiter)
    return spelling === undefined ? {} : { lost: { spelling } }
  }

  return {
    make(change) {
      if (change.kind === 'add') {
        return unfitCell(change.rows.flat(), encoding) ?? add(change.rows)
      }
      const { rowNumber } = change
      if (change.kind === 'insert') {
        const values = change.cells.map(({ value }) => value)
        return unfitCell(values, encoding) ?? insert(change)
      }
      if (!(rowNumber >= 2 && rowNumber <= last)) {
        return { reason: 'row', details: `There is no row ${rowNumber}.` }
      }
      const former = records.raw(rowNumber)
      if (change.kind === 'delete') {
        const row = rowAt(rowNumber)
        records.remove(rowNumber)
        last--
        passBlankRows()
        return { kind: 'delete', row, ...lostWithRecord(former) }
      }
      const refused = unfitCell(
        change.cells.map(({ value }) => value),
        encoding,
      )
      if (refused) return refused
      const updated = updateRecord(former, change.cells, columns, delimiter)
      const row = readRecord(updated, delimiter)
      records.replace(rowNumber, asSpelt(change.spelling, row, delimiter) ?? updated)
      passBlankRows()
      return { kind: 'update', row, ...lostWithRecord(former) }
    },
    toText: () => records.toText(),
  }
}

function unfitCell(cells: readonly Cell[], encoding: CsvEncoding): Omit<Unfit, 'changeAt'> | undefined {
  const found = cells.find((cell) => !isRepresentableInCsv(cell, encoding))
  return found === undefined ? undefined : { reason: 'value', details: whyUnfitForCsv(found, encoding) }
}

/** A change after which the delimiter is another, while it is not before it. */
function firstToConfuse(text: string, dialect: CsvDialect, changes: readonly Change[]): number {
  let clear = 0
  let unclear = changes.length
  while (unclear - clear > 1) {
    const middle = (clear + unclear) >> 1
    const made = makeChanges(new CsvRecordList(text, dialect), dialect, changes.slice(0, middle))
    if ('text' in made && detectDelimiter(made.text) === dialect.delimiter) clear = middle
    else unclear = middle
  }
  return clear
}
