import type { Cell } from '../grid.ts'
import { naiveQuery } from '../query/naive-query.fixture.ts'
import type { Aggregate, DatePart, SumsQuery } from './sums.ts'

/** The rules of `sums.ts` once more, for tests: row by row, without codes or tables. Rows are cells in column order. */
export function naiveSums(
  rows: readonly Cell[][],
  { filters, search, sums, sort, limit, offset }: SumsQuery,
) {
  const everything = { filters, search, sort: [], limit: null, offset: 0 }
  const matching = naiveQuery(rows, everything).positions.map((position) => rows[position] ?? [])
  const groups = new Map<string, Cell[][]>()
  if (sums.groupBy.length === 0) groups.set('', matching)
  else {
    for (const row of matching) {
      const name = JSON.stringify(
        sums.groupBy.map(({ column, part }) => {
          const cell = labelOf(row[column] ?? null, part)
          return typeof cell === 'string' ? lower(cell) : cell
        }),
      )
      groups.set(name, [...(groups.get(name) ?? []), row])
    }
  }
  const made = [...groups.values()].map((members) => [
    ...sums.groupBy.map(({ column, part }) => labelOf(members[0]?.[column] ?? null, part)),
    ...sums.aggregates.map((aggregate) => figure(aggregate, members, rows)),
  ])
  const { positions, total } = naiveQuery(made, { filters: [], search: null, sort, limit, offset })
  return {
    rows: positions.map((position) => made[position] ?? []),
    total,
    ignored: countIgnoredCells(sums, matching, rows),
  }
}

function countIgnoredCells(
  { groupBy, aggregates }: SumsQuery['sums'],
  matching: readonly Cell[][],
  rows: readonly Cell[][],
): Record<number, number> {
  const leftOut = new Map<number, Set<Cell[]>>()
  const note = (column: number, fits: (cell: Exclude<Cell, null>) => boolean) => {
    const others = matching.filter((row) => row[column] !== null && !fits(row[column] ?? ''))
    if (others.length > 0) leftOut.set(column, new Set([...(leftOut.get(column) ?? []), ...others]))
  }
  for (const { column, part } of groupBy) if (part !== null) note(column, (cell) => kindOf(cell) === 'date')
  for (const { fold, column } of aggregates) {
    if (column === null) continue
    if (fold === 'sum' || fold === 'avg') note(column, (cell) => typeof cell === 'number')
    if (fold === 'min' || fold === 'max') note(column, (cell) => kindOf(cell) === wantedKind(rows, column))
  }
  return Object.fromEntries([...leftOut].map(([column, rows]) => [column, rows.size]))
}

function labelOf(cell: Cell, part: DatePart | null): Cell {
  if (part === null || cell === null) return cell
  if (kindOf(cell) !== 'date') return null
  const day = String(cell).slice(0, 10)
  return { year: Number(day.slice(0, 4)), month: day.slice(0, 7), day }[part]
}

function figure({ fold, column }: Aggregate, members: readonly Cell[][], rows: readonly Cell[][]): Cell {
  const cells = members
    .map((row) => (column === null ? true : (row[column] ?? null)))
    .filter((cell) => cell !== null)
  switch (fold) {
    case 'count':
      return cells.length
    case 'count_distinct':
      return new Set(cells.map((cell) => (typeof cell === 'string' ? `text ${lower(cell)}` : `${cell}`))).size
    case 'sum':
    case 'avg': {
      const numbers = cells.filter((cell) => typeof cell === 'number')
      if (fold === 'avg' && numbers.length === 0) return null
      const sum = numbers.reduce((total, number) => total + millionths(number), 0n)
      const exact = Number(sum) / 1e6
      const value = fold === 'sum' ? exact : exact / numbers.length
      return Number.isInteger(value) ? value : Number(value.toPrecision(15))
    }
    case 'min':
    case 'max': {
      const fitting = cells.filter((cell) => kindOf(cell) === wantedKind(rows, column ?? 0))
      let best: Cell = null
      for (const cell of fitting) {
        const order = best === null ? 0 : compare(cell, best)
        if (best === null || (fold === 'min' ? order < 0 : order > 0)) best = cell
      }
      return best
    }
  }
}

/** The numbers of tests have no more digits than that. */
function millionths(number: number): bigint {
  return BigInt(Math.round(number * 1e6))
}

type Kind = 'number' | 'date' | 'time' | 'text' | 'boolean'

function kindOf(cell: Exclude<Cell, null>): Kind {
  if (typeof cell === 'number') return 'number'
  if (typeof cell === 'boolean') return 'boolean'
  const isDay = (text: string) => {
    const at = new Date(`${text}T00:00:00Z`)
    return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
  }
  const [, day, ofDay] = /^(\d{4}-\d\d-\d\d)(?:t(\d\d:[0-5]\d:[0-5]\d))?$/i.exec(cell) ?? []
  if (day !== undefined && isDay(day) && (ofDay === undefined || ofDay < '24')) return 'date'
  return /^(?:\d\d|[1-9]\d{2,11}):[0-5]\d:[0-5]\d$/.test(cell) ? 'time' : 'text'
}

/** Numbers where the sheet has any in this column, else dates, else times, else text. */
function wantedKind(rows: readonly Cell[][], column: number): Kind {
  const kinds = new Set(
    rows.map((row) => ((row[column] ?? null) === null ? null : kindOf(row[column] ?? ''))),
  )
  return (['number', 'date', 'time'] as const).find((kind) => kinds.has(kind)) ?? 'text'
}

function compare(one: Exclude<Cell, null>, other: Exclude<Cell, null>): number {
  if (typeof one === 'number') return one - Number(other)
  if (kindOf(one) !== 'time') return Buffer.compare(Buffer.from(lower(one)), Buffer.from(lower(other)))
  const seconds = (cell: Cell) =>
    String(cell)
      .split(':')
      .reduce((sum, part) => sum * 60 + Number(part), 0)
  return seconds(one) - seconds(other)
}

function lower(cell: Cell): string {
  return String(cell).toLowerCase().replaceAll('ς', 'σ')
}
