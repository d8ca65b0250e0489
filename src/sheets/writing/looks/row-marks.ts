import type { RowAsRead } from '../../change.ts'
import { cellMark } from '../../rows/find/cell-mark.ts'
import { cellReader } from '../../rows/query/row-cells.ts'
import { createRowWriter } from '../../rows/row-json.ts'
import { type IndexedSnapshot, rowJson, type Snapshot } from '../../rows/snapshot.ts'
import { areSameColumns } from '../../rows/table.ts'
import { cellsAsRead } from '../plans/rows-as-read.ts'

/** What tells a row from others, wherever it stands: all that it holds, or its cell in one column. */
export type Mark = string | number

/**
 * The rows of a look, each by a mark, so that after a write it can be told which of them are gone. Nothing is made of it before
 * somebody asks.
 */
export interface RowMarks {
  before(): Generator<void, Mark[]>
  /** The mark of a row as it was read; null where it has none. */
  markOf(row: RowAsRead): Mark | null
  /** Whether a change of these columns, by position in the sheet, gives a row another mark. */
  isMarkedBy(columnIndexes: readonly number[]): boolean
  /** As they are now; null where they cannot be compared. */
  now(): Promise<Mark[] | Generator<void, Mark[]> | null>
  /** What rows with these marks held when they were last read in full. */
  rowsWith(marks: ReadonlySet<Mark>): Generator<void, Map<Mark, RowAsRead[]>>
}

/** The marks that a look at the whole tab gives. */
export function marksOfRows(snapshot: IndexedSnapshot, readNow: () => Promise<Snapshot>): RowMarks {
  const { columns } = snapshot
  const toJson = createRowWriter(columns)
  return {
    before: () => rowTexts(snapshot),
    markOf: (row) => toJson(Array.from(row, (cell) => cell ?? null)),
    isMarkedBy: () => true,
    async now() {
      const read = await readNow()
      return areSameColumns(read.columns, columns) ? rowTexts(read) : null
    },
    *rowsWith(marks) {
      yield
      return new Map([...marks].map((mark) => [mark, [cellsAsRead(columns, String(mark))]]))
    },
  }
}

function* rowTexts(snapshot: Snapshot): Generator<void, string[]> {
  const texts: string[] = []
  const reader = cellReader(snapshot)
  for (let position = 0; position < snapshot.rowNumbers.length; position++) {
    const text = rowJson(snapshot, position)
    texts.push(text)
    reader.note(text.length)
    if (reader.isTimeToPause()) yield
  }
  return texts
}

/** What a look at one column gives; what else rows held, the last copy tells. */
export interface ColumnMarks {
  columnIndex: number
  /** Its position among the columns of the copy. */
  position: number
  marks: Float64Array
  known: IndexedSnapshot
  readNow(): Promise<Float64Array | null>
}

export function marksOfColumn({ columnIndex, position, marks, known, readNow }: ColumnMarks): RowMarks {
  return {
    *before() {
      yield
      return filledPositions(marks)
    },
    markOf: (row) => cellMark(row[columnIndex] ?? null) || null,
    isMarkedBy: (columnIndexes) => columnIndexes.includes(columnIndex),
    async now() {
      const read = await readNow()
      return read && filledPositions(read)
    },
    *rowsWith(wanted) {
      const rows = new Map<Mark, RowAsRead[]>()
      const reader = cellReader(known)
      for (let at = 0; at < known.rowNumbers.length; at++) {
        if (reader.isTimeToPause()) yield
        const mark = cellMark(reader.cell(at, position))
        if (!wanted.has(mark)) continue
        rows.set(mark, [...(rows.get(mark) ?? []), cellsAsRead(known.columns, rowJson(known, at))])
      }
      return rows
    },
  }
}

function filledPositions(marks: Float64Array): number[] {
  return Array.from(marks).filter((mark) => mark !== 0)
}
