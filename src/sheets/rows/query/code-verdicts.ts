import type { IndexedSnapshot } from '../snapshot.ts'
import { type Bounds, bounds, ColumnCells, firstWhere } from './column-cells.ts'
import { type IndexedColumn, seen } from './column-index.ts'
import type { Filter, FilterOperator } from './query.ts'
import { createRowGlance } from './search-rows.ts'
import { compareTexts, folded } from './text-order.ts'
import { cellTextsAt, type TimeKey, timeKeyOfCell, timeKeyOfValue } from './time-key.ts'

/** Which cells of a column pass a filter, by code. */
export interface CodeVerdicts {
  column: IndexedColumn
  verdicts: Uint8Array
  /** For codes that are still undecided, because it takes reading the cell's text; null when there are none. */
  decide: ((code: number) => boolean) | null
}

/** Each takes some twenty looks at cells, which may stand far back in their rows. */
const valuesPerStep = 8

export const undecided = 0
export const passes = 1
export const fails = 2

/** One for each value that must hold. Pauses, because each value of a list is looked up among all cells of its column. */
export function* codeVerdicts(
  snapshot: IndexedSnapshot,
  { column: index, operator, values }: Filter,
): Generator<void, CodeVerdicts[]> {
  yield
  const cells = new ColumnCells(snapshot, index)
  switch (operator) {
    case 'in':
    case 'nin':
      return [yield* equalTo(cells, values, operator === 'in')]
    case 'eq':
    case 'ne': {
      const verdicts: CodeVerdicts[] = []
      for (const value of values) verdicts.push(yield* equalTo(cells, [value], operator === 'eq'))
      return verdicts
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return values.map((value) => inRange(cells, operator, value))
    case 'contains':
    case 'starts':
    case 'ends':
      return values.map((value) => withText(snapshot, cells, operator, folded(value)))
    case 'empty':
      return values.map((value) => emptyOrNot(cells, value))
  }
}

function* equalTo(
  cells: ColumnCells,
  values: readonly string[],
  verdict: boolean,
): Generator<void, CodeVerdicts> {
  const { column } = cells
  const verdicts = new Uint8Array(column.emptyCode + 1).fill(verdict ? fails : passes)
  const mark = ({ below, above }: Bounds) => verdicts.fill(verdict ? passes : fails, below, above)
  for (const [at, value] of values.entries()) {
    if (at % valuesPerStep === valuesPerStep - 1) yield
    if (value === '') continue
    const text = folded(value)
    const number = numberIn(value)
    const key = timeKeyOfValue(text)
    if (number !== null) mark(cells.numbersAround(number))
    for (const same of new Set([text, ...(key === null ? [] : cellTextsAt(key))]))
      mark(cells.textsAround(same))
    if (text === 'true' || text === 'false') {
      const code = cells.boolean(text === 'true')
      if (code < column.emptyCode) verdicts[code] = verdict ? passes : fails
    }
  }
  return { column, verdicts, decide: null }
}

type RangeOperator = Extract<FilterOperator, 'gt' | 'gte' | 'lt' | 'lte'>

function inRange(cells: ColumnCells, operator: RangeOperator, value: string): CodeVerdicts {
  const { column } = cells
  const verdicts = new Uint8Array(column.emptyCode + 1).fill(fails)
  const text = folded(value)
  const number = numberIn(value)
  const key = timeKeyOfValue(text)
  if (value === '') return { column, verdicts, decide: null }
  if (number !== null && column.textsFrom > 0) return within(cells.numbersAround(number))
  if ((text === 'true' || text === 'false') && column.kinds & (seen.true | seen.false))
    return within(booleansAround(column, text === 'true'))
  if (key !== null && hasTimesLike(column, key)) return withinTimes(key)
  return within(cells.textsAround(text))

  function within({ from, below, above, to }: Bounds): CodeVerdicts {
    if (operator === 'gt') verdicts.fill(passes, above, to)
    if (operator === 'gte') verdicts.fill(passes, below, to)
    if (operator === 'lt') verdicts.fill(passes, from, below)
    if (operator === 'lte') verdicts.fill(passes, from, above)
    return { column, verdicts, decide: null }
  }

  function withinTimes(key: TimeKey): CodeVerdicts {
    const { textsFrom, booleansFrom } = column
    const compare = (code: number) => compareTexts(timeKeyOfCell(cells.text(code)) ?? '', key)
    if (isSortedByTime(column)) return within(bounds(textsFrom, booleansFrom, compare))
    verdicts.fill(undecided, textsFrom, booleansFrom)
    const decide = (code: number) => {
      const cellKey = timeKeyOfCell(cells.text(code))
      return cellKey !== null && cellKey[0] === key[0] && holds(compareTexts(cellKey, key), operator)
    }
    return { column, verdicts, decide }
  }
}

function holds(comparison: number, operator: RangeOperator): boolean {
  if (comparison === 0) return operator === 'gte' || operator === 'lte'
  return comparison > 0 ? operator === 'gt' || operator === 'gte' : operator === 'lt' || operator === 'lte'
}

function booleansAround({ booleansFrom, emptyCode, kinds }: IndexedColumn, value: boolean): Bounds {
  const trueFrom = booleansFrom + (kinds & seen.false ? 1 : 0)
  return value
    ? { from: booleansFrom, below: trueFrom, above: emptyCode, to: emptyCode }
    : { from: booleansFrom, below: booleansFrom, above: trueFrom, to: emptyCode }
}

const pointsInTime = seen.date | seen.dateTime
const timesOfDay = seen.time | seen.duration
const allTexts = seen.plainText | pointsInTime | timesOfDay

function hasTimesLike({ kinds }: IndexedColumn, key: TimeKey): boolean {
  return (kinds & (key.startsWith('d') ? pointsInTime : timesOfDay)) !== 0
}

/** As long as all texts are of one such shape. (A duration of 100 hours is, as text, less than one of 20.) */
function isSortedByTime({ kinds }: IndexedColumn): boolean {
  const texts = kinds & allTexts
  return (texts & ~pointsInTime) === 0 || texts === seen.time
}

type TextOperator = Extract<FilterOperator, 'contains' | 'starts' | 'ends'>

function withText(
  snapshot: IndexedSnapshot,
  cells: ColumnCells,
  operator: TextOperator,
  value: string,
): CodeVerdicts {
  const { column } = cells
  const { textsFrom, booleansFrom, emptyCode } = column
  const verdicts = new Uint8Array(emptyCode + 1)
  verdicts[emptyCode] = fails
  if (operator === 'starts') {
    // What begins alike lies together; only numbers are in another order than their text.
    const begins = (code: number) => cells.text(code).startsWith(value)
    const from = cells.textsAround(value).below
    verdicts.fill(fails, textsFrom, booleansFrom)
    verdicts.fill(
      passes,
      from,
      firstWhere(from, booleansFrom, (code) => !begins(code)),
    )
    return { column, verdicts, decide: begins }
  }
  const mayContain = createRowGlance(snapshot, value)
  const decide = (code: number) => {
    if (!mayContain(column.positionOfCode[code] ?? 0)) return false
    const text = cells.text(code)
    return operator === 'contains' ? text.includes(value) : text.endsWith(value)
  }
  return { column, verdicts, decide }
}

function emptyOrNot({ column }: ColumnCells, value: string): CodeVerdicts {
  if (value !== 'true' && value !== 'false') throw new Error('"empty" is "true" or "false"')
  const verdicts = new Uint8Array(column.emptyCode + 1).fill(value === 'true' ? fails : passes)
  verdicts[column.emptyCode] = value === 'true' ? passes : fails
  return { column, verdicts, decide: null }
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

function numberIn(value: string): number | null {
  return jsonNumber.test(value) ? Number(value) : null
}
