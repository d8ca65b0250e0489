import type { Cell } from '../grid.ts'
import type { Filter, Query } from './query.ts'

/**
 * The rules of `query.ts` once more, for tests: row by row and cell by cell, without codes, order or shortcuts, and
 * written for nothing but being right. Rows are cells in column order.
 */
export function naiveQuery(rows: readonly Cell[][], { filters, search, sort, limit, offset }: Query) {
  const tests = filters.map((filter) => testOf(filter, rows))
  const matching = rows
    .map((row, position) => ({ row, position }))
    .filter(({ row }) => tests.every((isKept) => isKept(row)))
    .filter(({ row }) => search === null || search === '' || row.some((cell) => contains(cell, search)))
    .sort((one, other) => {
      for (const { column, descending } of sort) {
        const order = sortOrder(one.row[column] ?? null, other.row[column] ?? null, descending)
        if (order !== 0) return order
      }
      return one.position - other.position
    })
    .map(({ position }) => position)
  return { positions: matching.slice(offset, offset + (limit ?? rows.length)), total: matching.length }
}

function testOf({ column, operator, values }: Filter, rows: readonly Cell[][]) {
  const others = rows.map((row) => row[column] ?? null)
  const compare = values.map((value) => comparison(value, others))
  return (row: readonly Cell[]): boolean => {
    const cell = row[column] ?? null
    if (operator === 'in') return values.some((value) => equals(cell, value))
    if (operator === 'nin') return !values.some((value) => equals(cell, value))
    return values.every((value, at) => {
      switch (operator) {
        case 'eq':
          return equals(cell, value)
        case 'ne':
          return !equals(cell, value)
        case 'empty':
          return (cell === null) === (value === 'true')
        case 'contains':
          return contains(cell, value)
        case 'starts':
          return cell !== null && lower(cell).startsWith(lower(value))
        case 'ends':
          return cell !== null && lower(cell).endsWith(lower(value))
        default: {
          const order = cell === null ? null : (compare[at]?.(cell) ?? null)
          if (order === null) return false
          return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator]
        }
      }
    })
  }
}

function equals(cell: Cell, value: string): boolean {
  if (cell === null || value === '') return false
  if (typeof cell === 'number') return isNumber(value) && Number(value) === cell
  if (lower(cell) === lower(value)) return true
  const [cellTime, valueTime] = [time(cell, false), time(value, true)]
  return cellTime !== null && valueTime !== null && cellTime.join() === valueTime.join()
}

/** How a cell compares with a value; null where it does not. What the column holds decides (`query.ts`). */
function comparison(value: string, column: readonly Cell[]): (cell: Exclude<Cell, null>) => number | null {
  if (value === '') return () => null
  if (isNumber(value) && column.some((cell) => typeof cell === 'number'))
    return (cell) => (typeof cell === 'number' ? cell - Number(value) : null)
  if (['true', 'false'].includes(lower(value)) && column.some((cell) => typeof cell === 'boolean'))
    return (cell) => (typeof cell === 'boolean' ? Number(cell) - Number(lower(value) === 'true') : null)
  const valueTime = time(value, true)
  if (valueTime && column.some((cell) => time(cell, false)?.[0] === valueTime[0])) {
    return (cell) => {
      const cellTime = time(cell, false)
      return cellTime && cellTime[0] === valueTime[0] ? cellTime[1] - valueTime[1] : null
    }
  }
  return (cell) => (typeof cell === 'string' ? compareText(lower(cell), lower(value)) : null)
}

function sortOrder(one: Cell, other: Cell, descending: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  const kinds = ['number', 'string', 'boolean']
  let order = kinds.indexOf(typeof one) - kinds.indexOf(typeof other)
  if (order === 0 && typeof one === 'string') order = compareText(lower(one), lower(other))
  else if (order === 0) order = Number(one) - Number(other)
  return descending ? -order : order
}

function contains(cell: Cell, value: string): boolean {
  return cell !== null && lower(cell).includes(lower(value))
}

function lower(cell: Cell): string {
  return String(cell).toLowerCase().replaceAll('ς', 'σ')
}

function isNumber(value: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(value)
}

/** The bytes of UTF-8 sort as code points do. */
function compareText(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Seconds since year 0 or since midnight. A value may leave out seconds, or have fractions of them. */
function time(cell: Cell, isValue: boolean): readonly ['date' | 'clock', seconds: number] | null {
  if (typeof cell !== 'string') return null
  const clock = isValue
    ? String.raw`:(\d\d)(?::(\d\d(?:\.\d{1,9})?))?`
    : String.raw`:(\d\d):(\d\d(?:\.(?!000)\d{3})?)`
  const match = new RegExp(
    String.raw`^(?:(\d{4}-\d\d-\d\d)(?:t(\d\d)${clock})?|(\d\d|[1-9]\d{2,11})${clock})$`,
    'i',
  ).exec(cell)
  if (!match) return null
  const hours = Number(match[2] ?? match[5] ?? 0)
  const minutes = Number(match[3] ?? match[6] ?? 0)
  const seconds = Number(match[4] ?? match[7] ?? 0)
  if (minutes >= 60 || seconds >= 60) return null
  const ofDay = hours * 3600 + minutes * 60 + seconds
  if (match[1] === undefined) return ['clock', ofDay]
  const [year = 0, month = 0, day = 0] = match[1].split('-').map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal && hours < 24 ? ['date', date.getTime() / 1000 + ofDay] : null
}
