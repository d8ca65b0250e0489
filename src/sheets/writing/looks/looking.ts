import type { Refusal } from '../../../errors.ts'
import type { SheetRecord } from '../../../store/sheets/sheets.ts'
import type { FetchedRows, RowsAndColumn, WantedInTall, WantedRows } from '../../provider.ts'
import type { Reading } from '../../reading/reading.ts'
import { foldName } from '../../rows/column-name.ts'
import { rowsEqualToEach } from '../../rows/find/find-rows.ts'
import type { RowInput } from '../../rows/row-input.ts'
import type { IndexedSnapshot } from '../../rows/snapshot.ts'
import { type Column, positionOfColumn } from '../../rows/table.ts'
import type { OperationHistory, SheetLog } from '../../sheet-log.ts'
import type { Wish, WriteOrder } from '../order.ts'
import type { TakerTurns } from '../taker-turns.ts'
import { type JudgedTab, someRows, wholeTab } from './judged-tab.ts'
import { findingInColumn, mayBeTime } from './row-finder.ts'
import { marksOfColumn, marksOfRows } from './row-marks.ts'

export interface LookingParts {
  reading: Pick<
    Reading,
    | 'readHeader'
    | 'readRows'
    | 'findInColumn'
    | 'readRowsAndColumn'
    | 'readForWriting'
    | 'lastKnown'
    | 'isShownOtherwise'
  >
  record: SheetRecord
  inTurns: TakerTurns
  log: Pick<SheetLog, 'historyOf'>
}

type Looked = Pick<WriteOrder, 'wish' | 'isDryRun'>

/**
 * As much of the tab as these orders need, where less than the whole is cheaper: of additions the header, of changes their rows, and of
 * what names rows by what they hold that column as well.
 */
export async function lookFor(orders: readonly Looked[], parts: LookingParts): Promise<JudgedTab> {
  const { reading, record } = parts
  if (orders.some(({ wish }) => wish.kind === 'undo')) return lookBack(orders, parts)
  if (orders.some(needsAllRows)) return lookAtAll(orders, parts)
  if (orders.some(({ wish }) => needsColumn(wish, record)))
    return (await lookAtColumn(orders, parts)) ?? lookAtAll(orders, parts)
  const isHeaderEnough = orders.every(({ wish }) => wish.kind === 'add')
  const header = isHeaderEnough ? await reading.readHeader(record) : null
  if (header) return { ...header, isWhole: false, rows: null, finder: null, indexed: null }
  const rows = isHeaderEnough ? null : await reading.readRows(record, rowsByNumber(orders))
  return rows ? asJudged(rows, parts) : lookAtAll(orders, parts)
}

function asJudged(rows: FetchedRows, { reading, record }: LookingParts): JudgedTab {
  return someRows(rows, (rowNumber, json) => reading.isShownOtherwise(record, rowNumber, json))
}

/** What people did is logged by then, so that the log leads to the rows as they are. */
async function lookBack(orders: readonly Looked[], parts: LookingParts): Promise<JudgedTab> {
  const tab = await lookAtAll(orders, parts)
  const histories = new Map<string, OperationHistory | null>()
  for (const { wish } of orders) {
    if (wish.kind !== 'undo') continue
    histories.set(wish.undoneId, await parts.log.historyOf(parts.record, wish.undoneId))
  }
  return { ...tab, histories }
}

export async function lookAtAll(
  orders: readonly Looked[],
  { reading, record }: Pick<LookingParts, 'reading' | 'record'>,
): Promise<JudgedTab> {
  const read = await reading.readForWriting(record)
  // What people did comes before what is about to be written.
  const logged = await read.logged
  const isFinding = record.keyColumn !== null || orders.some(({ wish }) => findsRows(wish))
  const indexed = isFinding ? await read.indexed : null
  const tab = wholeTab({ ...read, logged }, indexed)
  const readNow = async () => (await reading.readForWriting(record)).snapshot
  return indexed ? { ...tab, marks: marksOfRows(indexed, readNow) } : tab
}

/** As far as it can be told beforehand; what else does is told so when it is judged. */
function needsAllRows({ wish, isDryRun }: Looked): boolean {
  switch (wish.kind) {
    case 'update_many':
    case 'delete_many':
    case 'undo':
      return true
    case 'add':
      // Where it would stand is told from what was read.
      return isDryRun === true
    case 'upsert':
      return isDryRun === true || wish.isSheetAsExpected !== null
    case 'update':
    case 'delete':
      return false
  }
}

/** By what they hold. */
function findsRows(wish: Wish): boolean {
  if (wish.kind === 'add') return false
  return !(wish.kind === 'update' || wish.kind === 'delete') || wish.named !== undefined
}

function needsColumn(wish: Wish, { keyColumn }: SheetRecord): boolean {
  if (findsRows(wish)) return true
  if (keyColumn === null || wish.kind === 'delete') return false
  return wish.kind === 'add' || (wish.kind === 'update' && valueFor(keyColumn, wish.row) !== null)
}

/**
 * Where values are in one column, and the rows that have them, in one read: where those are likely to be, the last copy tells.
 * null where the whole tab must tell.
 */
async function lookAtColumn(orders: readonly Looked[], parts: LookingParts): Promise<JudgedTab | null> {
  const { reading, record, inTurns } = parts
  const known = reading.lastKnown(record)
  const column = known && columnAsked(orders, record, known.indexed.columns)
  if (!known || !column) return null
  const values = valuesAsked(orders, column.key)
  if (values.some(mayBeTime)) return null
  const rowsKnown = await inTurns(rowsHolding(known.indexed, column.position, values))
  const likely = new Set(rowsKnown.flat())
  if (likely.size > maxRows) return null
  const isDeleting = orders.some(({ wish }) => wish.kind === 'delete')
  const wanted = { columnIndex: column.index, isMarked: isDeleting }
  const looked = await rowsAndColumn(parts, wantedRows(orders, likely), {
    ...wanted,
    values,
    lastRowKnown: known.indexed.lastRowNumber,
  })
  if (!looked) return null
  const { inColumn, rows: atLikely } = looked
  const found = new Set(inColumn.cells.flatMap((cells) => cells.map(({ rowNumber }) => rowNumber)))
  if (found.size > maxRows) return null
  const isAllThere = found.isSubsetOf(likely)
  const rows = isAllThere ? atLikely : await reading.readRows(record, wantedRows(orders, found))
  if (!rows) return null
  const tab = asJudged(rows, parts)
  const now = columnAsked(orders, record, tab.columns)
  if (now?.index !== column.index || rows.header[column.index] !== inColumn.header) return null
  const seen = isAllThere ? likely : found
  const finder = findingInColumn({
    position: now.position,
    found: new Map(values.map((value, at) => [value, inColumn.cells[at] ?? []])),
    shown: known.isShown ? new Map(values.map((value, at) => [value, rowsKnown[at] ?? []])) : null,
    cell: (rowNumber) => (seen.has(rowNumber) ? (rows.row(rowNumber)[column.index] ?? null) : undefined),
  })
  const { marks } = inColumn
  if (!marks) return { ...tab, finder }
  const readNow = async () => {
    const read = await reading.findInColumn(record, { ...wanted, values: [] })
    return read?.header === inColumn.header ? (read.marks ?? null) : null
  }
  const { index: columnIndex, position } = column
  return {
    ...tab,
    finder,
    marks: marksOfColumn({ columnIndex, position, marks, known: known.indexed, readNow }),
  }
}

async function rowsAndColumn(
  { reading, record }: LookingParts,
  wanted: readonly WantedRows[],
  wantedInColumn: WantedInTall,
): Promise<RowsAndColumn | null> {
  const both = await reading.readRowsAndColumn(record, wanted, wantedInColumn)
  if (both !== 'too_large') return both
  const [inColumn, rows] = await Promise.all([
    reading.findInColumn(record, wantedInColumn),
    reading.readRows(record, wanted),
  ])
  return inColumn && rows && { inColumn, rows }
}

function* rowsHolding(
  snapshot: IndexedSnapshot,
  position: number,
  values: readonly string[],
): Generator<void, number[][]> {
  const found = yield* rowsEqualToEach(snapshot, position, values)
  return found.map((positions) => positions.map((at) => snapshot.rowNumbers[at] ?? 0))
}

function wantedRows(orders: readonly Looked[], named: ReadonlySet<number>): WantedRows[] {
  const kind = orders.some(({ wish }) => wish.kind === 'delete' && wish.named) ? 'delete' : 'update'
  return [...rowsByNumber(orders), ...Array.from(named, (row) => ({ kind, from: row, to: row }) as const)]
}

/** More are not worth it. */
const maxRows = 2_000

/** The one column that these orders are about; null where it is none, or several. */
function columnAsked(
  orders: readonly Looked[],
  { keyColumn }: SheetRecord,
  columns: readonly Column[],
): (Column & { position: number }) | null {
  const positions = new Set<number | Refusal | null>()
  if (keyColumn !== null) positions.add(positionOfColumn(columns, keyColumn))
  for (const { wish } of orders) {
    if (wish.kind === 'upsert') positions.add(wish.columnIn(columns))
    else if ((wish.kind === 'update' || wish.kind === 'delete') && wish.named)
      positions.add(wish.named.columnIn(columns))
  }
  const [position, another] = positions
  if (another !== undefined || typeof position !== 'number') return null
  const column = columns[position]
  return column ? { ...column, position } : null
}

function valuesAsked(orders: readonly Looked[], column: string): string[] {
  const values = new Set<string>()
  const note = (value: string | null) => value !== null && values.add(value)
  for (const { wish } of orders) {
    if ('rows' in wish) for (const row of wish.rows) note(valueFor(column, row))
    if ('row' in wish) note(valueFor(column, wish.row))
    if ('named' in wish && wish.named) note(wish.named.value)
  }
  return [...values]
}

function valueFor(column: string, row: RowInput): string | null {
  const given = row.find(([name]) => foldName(name) === foldName(column))?.[1] ?? null
  return given === null || given === '' ? null : String(given)
}

/** A deletion moves the rows below it up, unless it is refused. */
function rowsByNumber(orders: readonly Looked[]): WantedRows[] {
  let deletions = 0
  return orders.flatMap(({ wish }) => {
    if (wish.kind !== 'update' && wish.kind !== 'delete') return []
    const { kind, rowNumber } = wish
    const to = (rowNumber ?? 0) + deletions
    if (kind === 'delete') deletions++
    return rowNumber === undefined ? [] : [{ kind, from: rowNumber, to }]
  })
}
