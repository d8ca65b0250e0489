import { Refusal } from '../../errors.ts'
import { type Soon, then } from '../../soon.ts'
import type { UnknownFields } from '../../store/sql/schema.ts'
import type { Change, ChangeResult, RowAsRead } from '../change.ts'
import type { Cell } from '../rows/grid.ts'
import {
  changedCells,
  createCellMapping,
  type GivenCell,
  type RowInput,
  wholeRow,
} from '../rows/row-input.ts'
import { createRowWriter } from '../rows/row-json.ts'
import { maxRowBytes } from '../rows/snapshot.ts'
import { warningOfRow, warningOfWrite } from '../rows/stale-results.ts'
import type { Column } from '../rows/table.ts'
import type { JudgedTab } from './judged-tab.ts'
import type { Addition, Wish, WriteAnswer } from './order.ts'
import { bytesOfEmptyRow, maxBytesTogether } from './weighing.ts'

/**
 * 'later': it may mean a row that a change before it in the same batch makes, moves or alters. 'unread': it can only be
 * judged on the whole tab.
 */
export type Judgement = Change | Refusal | 'later' | 'unread'

/**
 * What a wish is in the sheet's own terms, or why it cannot be: fields first, then the row, then `If-Match`. Each row is a piece
 * of work, before which `turn` is asked for.
 */
export type Judge = (wish: Wish, turn: () => Soon<void>) => Soon<Judgement>

/** Of one batch: each wish is judged as it stands after those before it that were no refusals. */
export function createJudge({ columns, rows }: JudgedTab, unknownFields: UnknownFields): Judge {
  const toCells = createCellMapping(columns, unknownFields)
  const emptyRowBytes = bytesOfEmptyRow(columns)
  const earlier = createEarlierChanges()
  return (wish, turn) => {
    if (columns.length === 0) return new Refusal('missing_headers')
    if (wish.kind === 'add') {
      if (wish.rows.length * emptyRowBytes > maxBytesTogether)
        return tooManyRows(wish.rows.length, emptyRowBytes)
      return then(addition(wish, toCells, turn), (added) => {
        if (!(added instanceof Refusal)) earlier.noteAddition()
        return added
      })
    }
    if (!rows) return 'later'
    const { rowNumber } = wish
    const change = wish.kind === 'delete' ? wish : updating(toCells(wish.row))
    if (change instanceof Refusal) return change
    const rowAsRead = earlier.asRead(rowNumber)
    const text = rows.json(rowAsRead)
    if (text === null) {
      // Blank, or past the end, which a change before it may have moved.
      if (earlier.mayMoveEnd()) return 'later'
      if (rows.lastRowNumber === null) return 'unread'
      if (rowNumber > rows.lastRowNumber) return notFound(rows.lastRowNumber)
    }
    if (wish.isRowAsExpected && earlier.isUpdated(rowAsRead)) return 'later'
    const json = text ?? rows.blankRowJson
    if (wish.isRowAsExpected?.(rowNumber, json) === false) {
      // Whoever is refused reads again, and must not be shown the copy that misled them: the whole tab renews it.
      return rows.lastRowNumber === null ? 'unread' : new Refusal('precondition_failed')
    }
    if (wish.kind === 'update' && Buffer.byteLength(json) + bytesGiven(wish.row) > maxRowBytes)
      return rowTooLong
    const before = cellsAsRead(columns, json)
    if (!('cells' in change)) {
      earlier.noteDeletion(rowAsRead)
      return { kind: 'delete', rowNumber, before }
    }
    earlier.noteUpdate(rowAsRead)
    return { kind: 'update', rowNumber, ...change, before }
  }
}

/** What the changes of a batch so far make of row numbers: only deletions move rows. */
function createEarlierChanges() {
  /** Numbers as they were read, ascending. */
  const deleted: number[] = []
  const updated = new Set<number>()
  let isAdded = false
  return {
    asRead(rowNumber: number): number {
      let row = rowNumber
      for (const gone of deleted) if (gone <= row) row++
      return row
    },
    isUpdated: (rowAsRead: number) => updated.has(rowAsRead),
    mayMoveEnd: () => isAdded || deleted.length > 0,
    noteAddition() {
      isAdded = true
    },
    noteUpdate: (rowAsRead: number) => void updated.add(rowAsRead),
    noteDeletion(rowAsRead: number) {
      deleted.push(rowAsRead)
      deleted.sort((one, other) => one - other)
    },
  }
}

function notFound(lastRowNumber: number): Refusal {
  return new Refusal('row_not_found', { details: `The last row with data is ${lastRowNumber}.` })
}

function tooManyRows(rows: number, emptyRowBytes: number): Refusal {
  const allowed = Math.max(1, Math.floor(maxBytesTogether / emptyRowBytes))
  return new Refusal('payload_too_large', {
    details: `With as many columns as this sheet has, a request may add ${allowed} rows; this one has ${rows}.`,
  })
}

const rowTooLong = new Refusal('payload_too_large', {
  details: `A row may have ${maxRowBytes / 1024 / 1024} MiB; with this change it would have more.`,
})

function bytesGiven(row: RowInput): number {
  return row.reduce((sum, [, value]) => sum + Buffer.byteLength(JSON.stringify(value)), 0)
}

async function addition(
  { rows }: Addition,
  toCells: (row: Addition['rows'][number]) => GivenCell[] | Refusal,
  turn: () => Soon<void>,
): Promise<Judgement> {
  const cellRows: Cell[][] = []
  for (const row of rows) {
    await turn()
    const given = toCells(row)
    if (given instanceof Refusal) return given
    const cells = wholeRow(given)
    if (cells instanceof Refusal) return cells
    cellRows.push(cells)
  }
  return { kind: 'add', rows: cellRows }
}

function updating(given: GivenCell[] | Refusal) {
  if (given instanceof Refusal) return given
  const cells = changedCells(given)
  return cells instanceof Refusal ? cells : { cells }
}

function cellsAsRead(columns: readonly Column[], json: string): RowAsRead {
  const cells = JSON.parse(json) as Record<string, Cell>
  const row: (Cell | undefined)[] = []
  for (const { key, index } of columns) row[index] = cells[key]
  return row
}

/** What the client is told of a change, from what the provider says it made. In pieces like judging. */
export function createAnswers(
  columns: readonly Column[],
): (wish: Wish, result: ChangeResult, turn: () => Soon<void>) => Promise<WriteAnswer> {
  const toJson = createRowWriter(columns)
  return async (wish, result, turn) => ({
    ...(await whatWasDone(wish, result, toJson, turn)),
    ...staleIn(result, columns),
  })
}

async function whatWasDone(
  wish: Wish,
  result: ChangeResult,
  toJson: (row: readonly Cell[]) => string,
  turn: () => Soon<void>,
): Promise<WriteAnswer> {
  if (result.kind === 'add') {
    const rowsJson: string[] = []
    for (const row of result.rows) {
      await turn()
      rowsJson.push(toJson(row))
    }
    return { kind: 'added', rowNumbers: result.rowNumbers, rowsJson }
  }
  if (wish.kind === 'add') throw new Error(`The provider answered an addition with "${result.kind}"`)
  const { rowNumber } = wish
  return { kind: result.kind === 'update' ? 'updated' : 'deleted', rowNumber, rowJson: toJson(result.row) }
}

function staleIn(
  { stale }: ChangeResult,
  columns: readonly Column[],
): Pick<WriteAnswer, 'warning' | 'staleKeys'> {
  if (stale === undefined) return {}
  const staleKeys = columns.filter(({ index }) => stale.columns.includes(index)).map(({ key }) => key)
  const warning = stale.cells > 0 ? warningOfWrite(stale.cells) : warningOfRow(staleKeys)
  return { ...(warning !== null && { warning }), ...(staleKeys.length > 0 && { staleKeys }) }
}
