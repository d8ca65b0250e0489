import { equalTo } from '../query/code-verdicts.ts'
import { ColumnCells } from '../query/columns/column-cells.ts'
import { type ColumnIndexes, seen } from '../query/columns/column-index.ts'
import { numberIn } from '../query/equal-values.ts'
import { timeKeyOfCell } from '../query/time-key.ts'
import type { IndexedSnapshot } from '../snapshot.ts'

/** Whether the cells of a column can be the names of their rows: each has one, and finds its own row and no other. */
export interface KeyColumnState {
  /** How many rows have no cell there, and the numbers of the first. */
  blanks: number
  blankRows: readonly number[]
  /** How many rows have a cell that another one equals, and the numbers of the first. */
  repeats: number
  repeatRows: readonly number[]
}

const shownRows = 10
const rowsPerStep = 65_536
/** Longer than any text that is a number or a time. */
const tellingUnits = 400

const known = new WeakMap<ColumnIndexes, Map<number, KeyColumnState>>()

/** Looked at once for the same rows. */
export function* keyColumnState(snapshot: IndexedSnapshot, column: number): Generator<void, KeyColumnState> {
  const states = known.get(snapshot.indexes) ?? new Map<number, KeyColumnState>()
  known.set(snapshot.indexes, states)
  const state = states.get(column) ?? (yield* countBlanksAndRepeats(snapshot, column))
  states.set(column, state)
  return state
}

function* countBlanksAndRepeats(snapshot: IndexedSnapshot, column: number): Generator<void, KeyColumnState> {
  const { rowNumbers } = snapshot
  const { codes, emptyCode } = new ColumnCells(snapshot, column).column
  const isRepeated = yield* repeatedCodes(snapshot, column)
  const state = { blanks: 0, blankRows: [] as number[], repeats: 0, repeatRows: [] as number[] }
  for (let position = 0; position < codes.length; position++) {
    const code = codes[position] ?? 0
    const rowNumber = rowNumbers[position] ?? 0
    if (code === emptyCode) {
      if (state.blanks++ < shownRows) state.blankRows.push(rowNumber)
    } else if (isRepeated[code] === 1 && state.repeats++ < shownRows) state.repeatRows.push(rowNumber)
    if (position % rowsPerStep === 0) yield
  }
  return state
}

function* repeatedCodes(snapshot: IndexedSnapshot, column: number): Generator<void, Uint8Array> {
  const cells = new ColumnCells(snapshot, column)
  const { codes, emptyCode, textsFrom, booleansFrom, kinds } = cells.column
  const isMet = new Uint8Array(emptyCode + 1)
  const isRepeated = new Uint8Array(emptyCode + 1)
  for (let position = 0; position < codes.length; position++) {
    const code = codes[position] ?? 0
    if (isMet[code] === 1) isRepeated[code] = 1
    isMet[code] = 1
    if (position % rowsPerStep === 0) yield
  }
  // A text may equal what is no text, or another text of the same time: only where a column has both.
  const isMixed = textsFrom > 0 || booleansFrom < emptyCode || (kinds & seen.date && kinds & seen.dateTime)
  if (!isMixed) return isRepeated
  for (let code = textsFrom; code < booleansFrom; code++) {
    if (code % 256 === 255) yield
    const text = cells.beginning(code, tellingUnits)
    if (!mayEqualOthers(text)) continue
    const equal = yield* equalTo(cells, text)
    const others = equal.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at))
    if (others.length > 1) for (const other of others) isRepeated[other] = 1
  }
  return isRepeated
}

function mayEqualOthers(text: string): boolean {
  return numberIn(text) !== null || text === 'true' || text === 'false' || timeKeyOfCell(text) !== null
}
