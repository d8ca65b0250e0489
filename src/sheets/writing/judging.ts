import { Refusal } from '../../errors.ts'
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
import { maxRowBytes, positionOf, rowJson, type Snapshot } from '../rows/snapshot.ts'
import type { Column } from '../rows/table.ts'
import type { JudgedTab } from './judged-tab.ts'
import type { Addition, Wish, WriteAnswer } from './order.ts'
import { bytesOfEmptyRow, maxBytesTogether } from './weighing.ts'

/** 'later': it may mean a row that an addition before it in the same batch makes. */
export type Judgement = Change | Refusal | 'later'

/** What a wish is in the sheet's own terms, or why it cannot be: fields first, then the row, then `If-Match`. */
export function createJudge(
  { columns, snapshot }: JudgedTab,
  unknownFields: UnknownFields,
): (wish: Wish, isAfterAddition: boolean) => Judgement {
  const toCells = createCellMapping(columns, unknownFields)
  const emptyRowBytes = bytesOfEmptyRow(columns)
  return (wish, isAfterAddition) => {
    if (columns.length === 0) return new Refusal('missing_headers')
    if (wish.kind === 'add') {
      return wish.rows.length * emptyRowBytes > maxBytesTogether
        ? tooManyRows(wish.rows.length, emptyRowBytes)
        : addition(wish, toCells)
    }
    if (!snapshot) return 'later'
    const { rowNumber } = wish
    const change = wish.kind === 'delete' ? wish : updating(toCells(wish.row))
    if (change instanceof Refusal) return change
    if (rowNumber > snapshot.lastRowNumber) {
      if (isAfterAddition) return 'later'
      return new Refusal('row_not_found', { details: `The last row with data is ${snapshot.lastRowNumber}.` })
    }
    const json = jsonOf(snapshot, rowNumber)
    if (wish.isRowAsExpected?.(rowNumber, json) === false) return new Refusal('precondition_failed')
    if (wish.kind === 'update' && Buffer.byteLength(json) + bytesGiven(wish.row) > maxRowBytes)
      return rowTooLong
    const before = rowAsRead(columns, json)
    return 'cells' in change
      ? { kind: 'update', rowNumber, ...change, before }
      : { kind: 'delete', rowNumber, before }
  }
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

function addition(
  { rows }: Addition,
  toCells: (row: Addition['rows'][number]) => GivenCell[] | Refusal,
): Judgement {
  const cellRows: Cell[][] = []
  for (const row of rows) {
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

function jsonOf(snapshot: Snapshot, rowNumber: number): string {
  const position = positionOf(snapshot, rowNumber)
  return position === null ? snapshot.blankRowJson : rowJson(snapshot, position)
}

function rowAsRead(columns: readonly Column[], json: string): RowAsRead {
  const cells = JSON.parse(json) as Record<string, Cell>
  const row: (Cell | undefined)[] = []
  for (const { key, index } of columns) row[index] = cells[key]
  return row
}

/** What the client is told of a change, from what the provider says it made. */
export function createAnswers(columns: readonly Column[]): (wish: Wish, result: ChangeResult) => WriteAnswer {
  const toJson = createRowWriter(columns)
  return (wish, result) => {
    if (result.kind === 'add') {
      return { kind: 'added', rowNumbers: result.rowNumbers, rowsJson: result.rows.map(toJson) }
    }
    if (wish.kind === 'add') throw new Error(`The provider answered an addition with "${result.kind}"`)
    const { rowNumber } = wish
    return { kind: result.kind === 'update' ? 'updated' : 'deleted', rowNumber, rowJson: toJson(result.row) }
  }
}
