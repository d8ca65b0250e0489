import { type IndexedColumn, indexedColumn, seen } from '../query/columns/column-index.ts'
import { cellReader } from '../query/row-cells.ts'
import { foldText } from '../query/text-order.ts'
import { timeKeyOfCell } from '../query/time-key.ts'
import type { IndexedSnapshot } from '../snapshot.ts'
import { filledNumbers, sameNumbers } from './filled-numbers.ts'
import { rowsPerStep } from './group-rows.ts'
import { type CodeNumbers, createKeptTables } from './kept-tables.ts'

/** This process may hold so much; a table has 8 bytes for each different cell of its column, or for each row. */
const maxTableBytes = 64 * 1024 * 1024
const tables = createKeptTables(maxTableBytes)

/** Longer than any text that is a time. */
const timeUnits = 24

const pointsInTime = seen.date | seen.dateTime
const timesOfDay = seen.time | seen.duration
const allTexts = seen.plainText | pointsInTime | timesOfDay

/** The numbers themselves; 0 for what is none. */
export function numbersOf(snapshot: IndexedSnapshot, index: number): Generator<void, CodeNumbers> {
  const { textsFrom } = indexedColumn(snapshot, index)
  return kept(snapshot, index, 'numbers', 0, function* (table, column) {
    const reader = cellReader(snapshot)
    for (let code = 0; code < textsFrom; code++) {
      table[code] = reader.cell(column.positionOfCode[code] ?? 0, index) as number
      if (reader.isTimeToPause()) yield
    }
  })
}

/** More different cells than this, and looking a number up by its code misses the processor's cache. */
const mostCodesAtHand = 4_096

/** Numbers by row, where there are too many for that; rows are gone through in their order. */
export function* numbersByRow(
  snapshot: IndexedSnapshot,
  index: number,
  numbers: CodeNumbers,
): Generator<void, Float64Array | null> {
  const name = `rows ${index}`
  const known = tables.get(snapshot.indexes, name)
  if (known || numbers.length <= mostCodesAtHand) return known ?? null
  const { codes } = indexedColumn(snapshot, index)
  const table = new Float64Array(codes.length)
  for (let from = 0; from < codes.length; from += rowsPerStep) {
    const to = Math.min(from + rowsPerStep, codes.length)
    for (let at = from; at < to; at++) table[at] = numbers[codes[at] ?? 0] ?? 0
    yield
  }
  tables.keep(snapshot.indexes, name, table)
  return table
}

/** The days of dates, with a time or without: `20261115`. */
export function daysOf(snapshot: IndexedSnapshot, index: number): Generator<void, CodeNumbers> {
  return kept(snapshot, index, 'days', Number.NaN, (table, column) =>
    eachTime(snapshot, index, column, (code, key) => {
      if (key.startsWith('d')) table[code] = Number(key.slice(1, 11).replaceAll('-', ''))
    }),
  )
}

/**
 * By which the least and the greatest cell are told; NaN for those that do not fit. Codes are in order, so where all cells of
 * a kind fit, it is the code itself, and nothing has to be read.
 */
export function* orderOf(snapshot: IndexedSnapshot, index: number): Generator<void, CodeNumbers> {
  const column = indexedColumn(snapshot, index)
  const { textsFrom, booleansFrom, kinds } = column
  const texts = kinds & allTexts
  if (textsFrom > 0) return yield* own(column, 0, textsFrom)
  if ((texts & (pointsInTime | timesOfDay)) === 0) return yield* own(column, textsFrom, booleansFrom)
  const isOnly = (some: number) => (texts & ~some) === 0
  if (isOnly(pointsInTime) || isOnly(seen.time)) return yield* own(column, textsFrom, booleansFrom)
  const kind = texts & pointsInTime ? 'd' : 'c'
  return yield* kept(snapshot, index, 'order', Number.NaN, (table) =>
    eachTime(snapshot, index, column, (code, key) => {
      if (key.startsWith(kind)) table[code] = kind === 'd' ? code : secondsIn(key)
    }),
  )
}

function own({ emptyCode }: IndexedColumn, from: number, to: number): Generator<void, CodeNumbers> {
  return filledNumbers(emptyCode + 1, (code) => (code >= from && code < to ? code : Number.NaN))
}

function* eachTime(
  snapshot: IndexedSnapshot,
  index: number,
  { textsFrom, booleansFrom, positionOfCode }: IndexedColumn,
  tell: (code: number, key: string) => void,
): Generator<void, void> {
  const reader = cellReader(snapshot)
  for (let code = textsFrom; code < booleansFrom; code++) {
    const key = timeKeyOfCell(foldText(reader.beginning(positionOfCode[code] ?? 0, index, timeUnits)))
    if (key !== null) tell(code, key)
    if (reader.isTimeToPause()) yield
  }
}

/** A text with hours, minutes and seconds, behind a letter. */
function secondsIn(key: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = key.slice(1).split(':').map(Number)
  return hours * 3_600 + minutes * 60 + seconds
}

function* kept(
  snapshot: IndexedSnapshot,
  index: number,
  what: string,
  others: number,
  fill: (table: CodeNumbers, column: IndexedColumn) => Generator<void, void>,
): Generator<void, CodeNumbers> {
  const name = `${what} ${index}`
  const known = tables.get(snapshot.indexes, name)
  if (known) return known
  const column = indexedColumn(snapshot, index)
  const table = yield* sameNumbers(column.emptyCode + 1, others)
  yield* fill(table, column)
  tables.keep(snapshot.indexes, name, table)
  return table
}
