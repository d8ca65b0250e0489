import type { Cell } from './rows/grid.ts'
import { createRowWriter } from './rows/row-json.ts'
import type { Column } from './rows/table.ts'

/**
 * One change as the log keeps it (docs/decisions/032). Rows are JSON text, because an object would not keep the order of all
 * their keys; `before` and `after` of `columns_changed` are lists of names.
 */
export interface LoggedChange {
  kind: 'added' | 'updated' | 'deleted' | 'columns_changed' | 'reset'
  /** The number that the row has when the changes before it are made; absent where it was not to be told. */
  row?: number
  /** The JSON text of the cell in the key column, before the change where there was one. */
  key?: string
  before?: string
  after?: string
  /** Columns whose cells are others now. */
  changed?: string[]
  /** New names by old ones. */
  renamed?: [from: string, to: string][]
  /** It was not told by a key. */
  isByPosition?: true
  /** What is told as added or deleted was there as a blank row before, or is since: no other row moved. */
  isInPlace?: true
  /** The columns that a write wrote, where cells in others changed with them. */
  wrote?: string[]
  /** The row that a write meant that hit another one. Only until that one is found. */
  meantRow?: number
  /** What `before` does not tell of the row: it takes this to put it back. */
  lost?: LostOfRow
  /** The write through the API, and whose key it was. */
  operation?: string
  by?: string
  /** The write that an undo took back. */
  undoes?: string
}

/** `LostWithChange` by the names of columns. */
export interface LostOfRow {
  times?: [name: string, format: string][]
  formulas?: string[]
  spelling?: string
  /** What a row that went, or came back, holds under columns without a name. */
  unnamed?: UnnamedCells
}

/** Nobody but the spreadsheet shows them, so they are known by position, and only while the others stand where they stood. */
export interface UnnamedCells {
  cells: UnnamedCell[]
  /** The positions of the columns with names. */
  namedAt: number[]
}

/** The format of a date or a time, in the words of the place. */
export type UnnamedCell = [position: number, value: Cell, timeFormat?: string]

/** null where there are none. */
export function unnamedCellsOf(
  row: readonly Cell[],
  columns: readonly Column[],
  times: readonly (readonly [position: number, format: string])[] = [],
): UnnamedCells | null {
  const namedAt = columns.map(({ index }) => index)
  const named = new Set(namedAt)
  const formatAt = new Map(times)
  const cells = row.flatMap((value, at): UnnamedCell[] => {
    if (value === null || value === '' || named.has(at)) return []
    const format = formatAt.get(at)
    return [format === undefined ? [at, value] : [at, value, format]]
  })
  return cells.length === 0 ? null : { cells, namedAt }
}

/** What one look finds, or one batch writes, is logged in chunks of so many at most: whoever reads one change of a chunk reads all of it. */
const changesTogether = 500
/** And of so many characters, but for a single change that is longer. */
const charactersTogether = 128 * 1_024

/** A part of what was found or written together, as the log keeps it. */
export interface ChangesChunk {
  /** JSON. */
  entries: string
  count: number
  /** The writes that its changes are of. */
  operations: string[]
}

/** `textOf`: the JSON text of a change, for whoever has it already. */
export function* chunksOfChanges(
  changes: readonly LoggedChange[],
  textOf: (change: LoggedChange, at: number) => string = (change) => JSON.stringify(change),
): Generator<ChangesChunk> {
  let texts: string[] = []
  let characters = 0
  for (const [at, change] of changes.entries()) {
    const text = textOf(change, at)
    texts.push(text)
    characters += text.length + 1
    const isLast = at === changes.length - 1
    if (!isLast && texts.length < changesTogether && characters < charactersTogether) continue
    const operations = operationsOf(changes.slice(at + 1 - texts.length, at + 1))
    yield { entries: `[${texts.join(',')}]`, count: texts.length, operations }
    texts = []
    characters = 0
  }
}

/** The JSON texts of changes, as `JSON.stringify` makes them; in steps, also within those that tell of megabytes. */
export function* textsOfChanges(changes: readonly LoggedChange[]): Generator<void, string[]> {
  const texts: string[] = []
  let characters = 0
  for (const change of changes) {
    const isLong = (change.before?.length ?? 0) + (change.after?.length ?? 0) > charactersTogether
    const text = isLong ? yield* textOfLong(change) : JSON.stringify(change)
    texts.push(text)
    characters += text.length
    if (characters < charactersTogether) continue
    characters = 0
    yield
  }
  return texts
}

function* textOfLong(change: LoggedChange): Generator<void, string> {
  const members: string[] = []
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue
    const text = typeof value === 'string' ? yield* textOfString(value) : JSON.stringify(value)
    members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}

function* textOfString(value: string): Generator<void, string> {
  if (value.length <= charactersTogether) return JSON.stringify(value)
  let text = '"'
  for (let from = 0; from < value.length; ) {
    let to = from + charactersTogether
    // Alone, each half of a character would be written as what it is not.
    if (/[\uD800-\uDBFF]/.test(value.charAt(to - 1))) to--
    text += JSON.stringify(value.slice(from, to)).slice(1, -1)
    from = to
    yield
  }
  return `${text}"`
}

/** Whether it was cut there, so that what was found in the same moment may go on in the next. */
export function isFullChunk(characters: number, count: number): boolean {
  return count >= changesTogether || characters > charactersTogether
}

export function changesText(changes: readonly LoggedChange[]): string {
  return JSON.stringify(changes)
}

export function readChanges(text: string): LoggedChange[] {
  return JSON.parse(text) as LoggedChange[]
}

/** The writes that these changes are of. */
function operationsOf(changes: readonly LoggedChange[]): string[] {
  return [...new Set(changes.flatMap(({ operation }) => operation ?? []))]
}

/** One row as a list shows it where it is blank. */
export function blankRowOf(columns: readonly Column[]): string {
  return createRowWriter(columns)([])
}

/** The JSON text of one cell of a row; null where it is empty or the column is not there. */
export function keyTextOf(cells: readonly (Cell | undefined)[], keyIndex: number | null): string | null {
  const cell = keyIndex === null ? null : (cells[keyIndex] ?? null)
  return cell === null || cell === '' ? null : JSON.stringify(cell)
}
