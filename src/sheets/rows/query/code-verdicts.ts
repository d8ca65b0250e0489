import type { IndexedSnapshot } from '../snapshot.ts'
import { type Bounds, ColumnCells } from './columns/column-cells.ts'
import { type IndexedColumn, indexedColumn, seen } from './columns/column-index.ts'
import { equalTexts, numberIn } from './equal-values.ts'
import type { FilterOperator } from './operators.ts'
import type { Filter } from './query.ts'
import { createCellSearch, createEndTest, type RowTest, type Verdict } from './search-rows.ts'
import { compareTexts, foldText } from './text-order.ts'
import { type TimeKey, timeKeyOfCell, timeKeyOfValue } from './time-key.ts'

/** Which cells of a column pass a filter, by code. */
export type CodeVerdicts = PassingStretch | VerdictTable

/** All that pass lie together. */
export interface PassingStretch {
  column: IndexedColumn
  passing: Stretch
}

export interface VerdictTable {
  column: IndexedColumn
  verdicts: Uint8Array
  /** For codes that are still undecided, because it takes reading the cell's text: all must hold. */
  tests: readonly CodeTest[]
}

type CodeTest = (code: number) => Verdict

export const passes = 0
export const undecided = 1
export const fails = 2

/** How many codes are gone through in a step. */
const codesPerStep = 65_536
/** Longer than any text that is a time. */
const timeUnits = 24

/** Whether finding out takes reading cells: such filters come last, when few rows are left. */
export function isDecidedByReading({ operator }: Filter): boolean {
  return operator === 'contains' || operator === 'ends' || operator === 'starts'
}

/**
 * The rows themselves as tests, one for each value, where most cells of the column differ: then rows are ruled out many at once, and
 * a verdict on each different cell spares nothing (docs/decisions/054). null: by verdicts.
 */
export function rowTestsOf(snapshot: IndexedSnapshot, filter: Filter): readonly RowTest[] | null {
  const { column: index, operator, values } = filter
  if (operator !== 'contains' && operator !== 'ends') return null
  const { codes, emptyCode } = indexedColumn(snapshot, index)
  if (emptyCode * 4 < codes.length * 3) return null
  return values.map((value) => {
    const test = textTest(snapshot, index, operator, foldText(value))
    return {
      ...test,
      holds: (position: number) => codes[position] !== emptyCode && test.holds(position),
    }
  })
}

/** Codes from `from` to `to`. */
export interface Stretch {
  from: number
  to: number
}

/** What one value says: which codes pass, and which take a test. All others fail. */
interface ValueVerdict {
  passing: readonly Stretch[]
  open: readonly Stretch[]
  test: CodeTest | null
}

/**
 * One byte for each different cell of the column, however many values there are, and none where a single value says it all. In
 * steps, because each value is looked up among all cells of its column.
 */
export function* codeVerdicts(
  snapshot: IndexedSnapshot,
  { column: index, operator, values }: Filter,
): Generator<void, CodeVerdicts> {
  yield
  const cells = new ColumnCells(snapshot, index)
  const { column } = cells
  if (operator !== 'in' && operator !== 'nin' && operator !== 'ne' && values.length === 1) {
    const verdict = yield* verdictOf(snapshot, cells, index, operator, values[0] ?? '')
    const passing = onlyStretch(verdict)
    if (passing) return { column, passing }
    const verdicts = new Uint8Array(column.emptyCode + 1)
    yield* narrow(verdicts, verdict)
    return { column, verdicts, tests: verdict.test ? [verdict.test] : [] }
  }
  const verdicts = new Uint8Array(column.emptyCode + 1)
  const tests: CodeTest[] = []
  switch (operator) {
    case 'in':
      verdicts.fill(fails)
      for (const value of values) fillAll(verdicts, passes, yield* equalTo(cells, value))
      break
    case 'nin':
    case 'ne':
      for (const value of values) fillAll(verdicts, fails, yield* equalTo(cells, value))
      break
    default:
      for (const value of values) {
        const verdict = yield* verdictOf(snapshot, cells, index, operator, value)
        yield* narrow(verdicts, verdict)
        if (verdict.test) tests.push(verdict.test)
      }
  }
  return { column, verdicts, tests }
}

function* verdictOf(
  snapshot: IndexedSnapshot,
  cells: ColumnCells,
  index: number,
  operator: Exclude<FilterOperator, 'in' | 'nin' | 'ne'>,
  value: string,
): Generator<void, ValueVerdict> {
  switch (operator) {
    case 'eq':
      return verdictOfStretches(yield* equalTo(cells, value))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return yield* inRange(cells, operator, value)
    case 'starts':
      return yield* startingWith(cells, foldText(value))
    case 'contains':
    case 'ends':
      return withText(snapshot, cells, index, operator, foldText(value))
    case 'empty':
      return verdictOfStretches(emptyOrNot(cells, value))
  }
}

/** null: there are several, or it takes a test. */
function onlyStretch({ passing, test }: ValueVerdict): Stretch | null {
  if (test) return null
  const [first = { from: 0, to: 0 }, ...others] = passing.filter(({ from, to }) => from < to)
  return others.length === 0 ? first : null
}

function verdictOfStretches(passing: readonly Stretch[]): ValueVerdict {
  return { passing, open: [], test: null }
}

function fillAll(verdicts: Uint8Array, verdict: number, stretches: readonly Stretch[]): void {
  for (const { from, to } of stretches) verdicts.fill(verdict, from, to)
}

/** What fails one value fails them all; what is open for one stays open. */
function* narrow(verdicts: Uint8Array, { passing, open }: ValueVerdict): Generator<void, void> {
  let end = 0
  for (const { from, to } of [...passing, ...open].sort((one, other) => one.from - other.from)) {
    if (from > end) verdicts.fill(fails, end, from)
    end = Math.max(end, to)
  }
  verdicts.fill(fails, end)
  yield
  for (const { from, to } of open) {
    for (let code = from; code < to; code += codesPerStep) {
      openPassing(verdicts, code, Math.min(code + codesPerStep, to))
      yield
    }
  }
}

/** A function of its own: within a generator a loop takes several times as long. */
function openPassing(verdicts: Uint8Array, from: number, to: number): void {
  for (let code = from; code < to; code++) if (verdicts[code] === passes) verdicts[code] = undecided
}

/** The codes of all cells that equal a value; some stretches may have none. */
export function* equalTo(cells: ColumnCells, value: string): Generator<void, Stretch[]> {
  const equal: Stretch[] = []
  const add = ({ below, above }: Bounds) => equal.push({ from: below, to: above })
  if (value === '') return equal
  const text = foldText(value)
  const number = numberIn(value)
  if (number !== null) add(yield* cells.numbersAround(number))
  for (const same of equalTexts(value)) add(yield* cells.textsAround(same))
  if (text === 'true' || text === 'false') {
    const code = cells.boolean(text === 'true')
    if (code < cells.column.emptyCode) equal.push({ from: code, to: code + 1 })
  }
  return equal
}

type RangeOperator = Extract<FilterOperator, 'gt' | 'gte' | 'lt' | 'lte'>

function* inRange(cells: ColumnCells, operator: RangeOperator, value: string): Generator<void, ValueVerdict> {
  const { column } = cells
  const text = foldText(value)
  const number = numberIn(value)
  const key = timeKeyOfValue(text)
  if (value === '') return verdictOfStretches([])
  if (number !== null && column.textsFrom > 0) return within(yield* cells.numbersAround(number))
  if ((text === 'true' || text === 'false') && column.kinds & (seen.true | seen.false))
    return within(booleansAround(column, text === 'true'))
  if (key !== null && hasTimesLike(column, key)) return yield* withinTimes(key)
  return within(yield* cells.textsAround(text))

  function within({ from, below, above, to }: Bounds): ValueVerdict {
    switch (operator) {
      case 'gt':
        return verdictOfStretches([{ from: above, to }])
      case 'gte':
        return verdictOfStretches([{ from: below, to }])
      case 'lt':
        return verdictOfStretches([{ from, to: below }])
      case 'lte':
        return verdictOfStretches([{ from, to: above }])
    }
  }

  function* withinTimes(key: TimeKey): Generator<void, ValueVerdict> {
    const { textsFrom, booleansFrom } = column
    const keyOf = (code: number) => timeKeyOfCell(cells.beginning(code, timeUnits))
    const compare = (code: number) => compareTexts(keyOf(code) ?? '', key)
    if (isSortedByTime(column)) return within(yield* cells.bounds(textsFrom, booleansFrom, compare))
    const test = (code: number) => {
      const cellKey = keyOf(code)
      return cellKey !== null && cellKey[0] === key[0] && holds(compareTexts(cellKey, key), operator)
    }
    return { passing: [], open: [{ from: textsFrom, to: booleansFrom }], test }
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

/**
 * Whether the order of texts is that of times: as long as all are of one such shape. (A duration of 100 hours is, as text,
 * less than one of 20.)
 */
function isSortedByTime({ kinds }: IndexedColumn): boolean {
  const texts = kinds & allTexts
  return (texts & ~pointsInTime) === 0 || texts === seen.time
}

/** What begins alike lies together; only numbers are in another order than their text. */
function* startingWith(cells: ColumnCells, value: string): Generator<void, ValueVerdict> {
  const { textsFrom, booleansFrom, emptyCode } = cells.column
  const test = (code: number) => cells.beginning(code, value.length).startsWith(value)
  const { below: from } = yield* cells.textsAround(value)
  const to = yield* cells.firstWhere(from, booleansFrom, (code) => !test(code))
  const open = [
    { from: 0, to: textsFrom },
    { from: booleansFrom, to: emptyCode },
  ]
  return { passing: [{ from, to }], open, test }
}

function withText(
  snapshot: IndexedSnapshot,
  { column }: ColumnCells,
  index: number,
  operator: 'contains' | 'ends',
  value: string,
): ValueVerdict {
  const { positionOfCode, emptyCode } = column
  const { holds } = textTest(snapshot, index, operator, value)
  const test = (code: number) => holds(positionOfCode[code] ?? 0)
  return { passing: [], open: [{ from: 0, to: emptyCode }], test }
}

function textTest(
  snapshot: IndexedSnapshot,
  index: number,
  operator: 'contains' | 'ends',
  value: string,
): RowTest {
  return (operator === 'contains' ? createCellSearch : createEndTest)(snapshot, index, value)
}

function emptyOrNot({ column }: ColumnCells, value: string): Stretch[] {
  if (value !== 'true' && value !== 'false') throw new Error('"empty" is "true" or "false"')
  const { emptyCode } = column
  return [value === 'true' ? { from: emptyCode, to: emptyCode + 1 } : { from: 0, to: emptyCode }]
}
